/**
 * Makes calls that need the machine of a sandbox. Retries while the machine may still come back, and fails once it will
 * not.
 */
import { sleep } from '@temporalio/workflow';
import { longestLagPauseMs } from '../../src/contract/workflow-safe/limits.js';
import { isCreating, isUsable } from '../../src/contract/workflow-safe/states.js';
import type { ResultErrorCode } from '../../src/protocol/result-error-codes.js';
import { sandboxFailed, serviceFailureOf } from '../shared/job-termination.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { safetyPollMs } from '../shared/wait-intervals.js';
import type { JobState } from './job-state.js';
import { readSandbox } from './sandbox/wait-until-usable.js';

/** A sign that the machine is lost, and how long it must last before the job ends. */
interface Loss {
  readonly code: ResultErrorCode;
  readonly message: string;
  readonly believedAfterMs: number;
}

/**
 * Like `retryRefusals`. If a call is refused because the machine does not run or does not exist, the job reads the
 * sandbox. It waits only while the machine may come back.
 *
 * @param call an activity that needs a running machine and that may be repeated after a refusal
 * @throws JobTermination `sandbox_failed`: `sandbox_stopped`, `sandbox_gone` or `sandbox_error`; or the error of the
 *   activity, if waiting does not help
 */
export async function callMachine<T>(
  job: JobState,
  sandboxId: string,
  step: string,
  call: () => Promise<T>,
): Promise<T> {
  const lostSinceMs = new Map<string, number>();
  for (let tries = 0; ; tries += 1) {
    try {
      return await retryRefusals(job, step, async () => {
        try {
          return await call();
        } catch (error) {
          if (serviceFailureOf(error)?.code === 'machine_not_running') await endIfLost(job, sandboxId, lostSinceMs);
          throw error;
        }
      });
    } catch (error) {
      // A 404 is final only if it lasts, because reads and calls may lag behind the create.
      if (serviceFailureOf(error)?.status !== 404) throw error;
      await endIfLost(job, sandboxId, lostSinceMs);
      if (lasted(lostSinceMs, 'not_found') >= job.timing.readLagMs) throw error;
      const pauseMs = Math.min(longestLagPauseMs, safetyPollMs(job.timing, tries));
      await sleep(pauseMs, { summary: `${step}: not found, retried after this` });
    }
  }
}

async function endIfLost(job: JobState, sandboxId: string, lostSinceMs: Map<string, number>): Promise<void> {
  const loss = await lossOf(job, sandboxId);
  if (loss === undefined) {
    // The machine runs again, so the time of a later loss starts again. Only the time of 404 refusals continues.
    for (const code of lostSinceMs.keys()) if (code !== 'not_found') lostSinceMs.delete(code);
    return;
  }
  if (lasted(lostSinceMs, loss.code) < loss.believedAfterMs) return;
  throw sandboxFailed(loss.code, loss.message);
}

/**
 * Ends the job if the state of the sandbox shows why work in the machine was interrupted.
 * @throws JobTermination `sandbox_failed` if the machine is lost
 */
export async function endIfMachineLost(job: JobState, sandboxId: string): Promise<void> {
  const loss = await lossOf(job, sandboxId);
  if (loss) throw sandboxFailed(loss.code, loss.message);
}

/** Time since the first observation of `what`, in ms. */
function lasted(sinceMs: Map<string, number>, what: string): number {
  const now = Date.now();
  const first = sinceMs.get(what) ?? now;
  sinceMs.set(what, first);
  return now - first;
}

async function lossOf(job: JobState, sandboxId: string): Promise<Loss | undefined> {
  const { readLagMs, errorGraceMs } = job.timing;
  const sandbox = await readSandbox(job, sandboxId);
  if (sandbox === null || sandbox.state === 'cancelled') {
    const believedAfterMs = sandbox === null ? readLagMs : 0;
    return { code: 'sandbox_gone', message: 'The sandbox was deleted while the job ran', believedAfterMs };
  }
  const { state, stop, error } = sandbox;
  if (isUsable(state) || isCreating(state)) return undefined;
  if (state === 'error') {
    const message = `The sandbox is in error: ${error ?? 'no reason given'}`;
    return { code: 'sandbox_error', message, believedAfterMs: errorGraceMs };
  }
  if (state !== 'archiving' && state !== 'archived') return undefined;
  // If the sandbox shows no new stop, the read may date from before this job's resume.
  const isNew = stop !== null && stop.id !== job.carried.previousStopId;
  const message = 'The sandbox was stopped while the job ran';
  return { code: 'sandbox_stopped', message, believedAfterMs: isNew ? 0 : readLagMs };
}
