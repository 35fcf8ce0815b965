/** Calls into a machine: waited for while the machine may still run, and ended when it will not run again. */
import { sleep } from '@temporalio/workflow';
import type { ResultErrorCode } from '../../src/contract/result-error-codes.js';
import type { Counted } from '../../src/contract/service-failure.js';
import { isCreating, isUsable } from '../../src/contract/states.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { safetyPollMs } from '../shared/timing.js';
import type { JobState } from './state.js';
import { JobTermination, jobError, serviceFailureOf } from './termination.js';
import { readSandbox } from './wait-until-usable.js';

/** Why the machine seems to be lost, and how long that must last before it is believed. */
interface Loss {
  readonly code: ResultErrorCode;
  readonly message: string;
  readonly believedAfterMs: number;
}

const longestPauseMs = 15_000;

/**
 * As `retryRefusals`. A call that is refused because the machine does not run, or does not exist, makes the job look at the
 * sandbox: it waits on only while the machine may come back.
 *
 * @param call an activity that needs a running machine and that may be refused and made again
 * @throws JobTermination `sandbox_failed`: `sandbox_stopped`, `sandbox_gone` or `sandbox_error`; what the activity threw, where
 *   waiting does not help
 */
export async function callMachine<T>(
  run: JobState,
  sandboxId: string,
  step: string,
  call: () => Promise<Counted<T>>,
): Promise<T> {
  const lostSinceMs = new Map<string, number>();
  for (let tries = 0; ; tries += 1) {
    try {
      return await retryRefusals(run, step, async () => {
        try {
          return await call();
        } catch (error) {
          if (serviceFailureOf(error)?.code === 'machine_not_running') await endIfLost(run, sandboxId, lostSinceMs);
          throw error;
        }
      });
    } catch (error) {
      // A 404 is one for good only when it lasts: reads and calls may lag behind the create.
      if (serviceFailureOf(error)?.status !== 404) throw error;
      await endIfLost(run, sandboxId, lostSinceMs);
      if (lasted(lostSinceMs, 'not_found') >= run.timing.readLagMs) throw error;
      const pauseMs = Math.min(longestPauseMs, safetyPollMs(run.timing, tries));
      await sleep(pauseMs, { summary: `${step}: not found, tried again after this` });
    }
  }
}

async function endIfLost(run: JobState, sandboxId: string, lostSinceMs: Map<string, number>): Promise<void> {
  const loss = await lossOf(run, sandboxId);
  if (loss === undefined) {
    // What is seen of it next is a new loss; the refusals with 404 are counted on their own.
    for (const code of lostSinceMs.keys()) if (code !== 'not_found') lostSinceMs.delete(code);
    return;
  }
  if (lasted(lostSinceMs, loss.code) < loss.believedAfterMs) return;
  throw new JobTermination('sandbox_failed', jobError(loss.code, loss.message));
}

/**
 * For work that was cut off in the machine: says so where the sandbox explains it.
 * @throws JobTermination `sandbox_failed`, where the machine is seen to have been lost
 */
export async function endIfMachineLost(run: JobState, sandboxId: string): Promise<void> {
  const loss = await lossOf(run, sandboxId);
  if (loss) throw new JobTermination('sandbox_failed', jobError(loss.code, loss.message));
}

/** How long it is since this was seen for the first time, in ms. */
function lasted(sinceMs: Map<string, number>, what: string): number {
  const now = Date.now();
  const first = sinceMs.get(what) ?? now;
  sinceMs.set(what, first);
  return now - first;
}

async function lossOf(run: JobState, sandboxId: string): Promise<Loss | undefined> {
  const { readLagMs, errorGraceMs } = run.timing;
  const sandbox = await readSandbox(run, sandboxId);
  if (sandbox === null) {
    return { code: 'sandbox_gone', message: 'The sandbox was deleted under the job', believedAfterMs: readLagMs };
  }
  const { state, stop, error } = sandbox;
  if (isUsable(state) || isCreating(state)) return undefined;
  if (state === 'error') {
    const message = `The sandbox is in error: ${error ?? 'no reason given'}`;
    return { code: 'sandbox_error', message, believedAfterMs: errorGraceMs };
  }
  const isStopped = state === 'archiving' || state === 'archived' || state === 'cancelled';
  if (!isStopped) return undefined;
  // Without a stop that is new, it may be how the sandbox was before this job resumed it.
  const isNew = state === 'cancelled' || (stop !== null && stop.id !== run.previousStopId);
  const message = 'The sandbox was stopped under the job';
  return { code: 'sandbox_stopped', message, believedAfterMs: isNew ? 0 : readLagMs };
}
