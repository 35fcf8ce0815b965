/** Uses an existing sandbox: resumes it if it is archived, and waits until it is usable. */
import { sleep } from '@temporalio/workflow';
import type { SandboxView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { SandboxSource } from '../../../src/protocol/job/job-input.js';
import { effects } from '../../shared/activity-options.js';
import { JobTermination, jobError, sandboxFailed, serviceFailureOf } from '../../shared/job-termination.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { until } from '../../shared/until.js';
import { safetyPollMs } from '../../shared/wait-intervals.js';
import { notifyOwner } from '../../watch/hold-lease.js';
import type { JobState } from '../job-state.js';
import { Lag, readSandbox, waitOptions, waitUntilUsable } from './wait-until-usable.js';
import { watchSandbox } from './watch-sandbox.js';

type ExistingSource = Extract<SandboxSource, { kind: 'existing' }>;

/**
 * @returns the id of the sandbox
 * @throws JobTermination `rejected` if the sandbox does not exist, `sandbox_failed` if it cannot be used
 */
export async function adoptSandbox(job: JobState, source: ExistingSource): Promise<string> {
  const { sandboxId } = source;
  job.enter('waiting_for_sandbox');
  const since = job.inbox.mark();
  // Register before the first read, so that no event in between is lost.
  job.carried.watched = true;
  const sandbox = await waitUntilNotStopping(job, sandboxId);
  job.carried.previousStopId = sandbox.stop?.id ?? null;
  if (isUsable(sandbox.state)) return sandboxId;
  if (sandbox.state === 'archived') await resume(job, source);
  else if ((await waitUntilUsable(job, sandboxId, { since })) !== 'usable') throw gone(sandboxId);
  return sandboxId;
}

/**
 * Waits until the job's own sandbox is archived, resumes it, and waits until it is usable.
 * @throws JobTermination, or the error of the activity, if the sandbox cannot be resumed
 */
export async function resumeSandbox(job: JobState, sandboxId: string): Promise<void> {
  if (job.sandbox?.state === 'archiving') await waitUntilNotStopping(job, sandboxId);
  await resume(job, { kind: 'existing', sandboxId });
}

async function resume(job: JobState, source: ExistingSource): Promise<void> {
  const { sandboxId, type } = source;
  job.enter('resuming');
  const since = job.inbox.mark();
  const previousStopId = job.sandbox?.stop?.id ?? null;
  // An earlier resume, which a stop has ended since.
  if (job.carried.previousStopId !== previousStopId) job.carried.resumedAtMs = null;
  job.carried.previousStopId = previousStopId;
  const { readLagMs } = job.timing;
  const input = { sandboxId, body: { type, ttlSeconds: job.input.ttlSeconds }, previousStopId, readLagMs };
  const { how, ...resumed } = await retryRefusals(job, 'resume', async () => {
    // An earlier call may have been accepted. Then the refusal of this one proves nothing.
    const earlierAtMs = job.carried.resumedAtMs;
    job.carried.resumedAtMs = Date.now();
    try {
      return await effects.resumeSandbox.executeWithOptions({ summary: `resume ${sandboxId}` }, [input]);
    } catch (error) {
      const failure = serviceFailureOf(error);
      if (failure !== undefined && failure.maybeSent !== true) job.carried.resumedAtMs = earlierAtMs;
      throw error;
    }
  });
  job.carried.resumedAtMs = Date.now();
  job.sandbox = resumed;
  if (how === 'stopped_again')
    throw sandboxFailed('sandbox_stopped', 'Somebody stopped the sandbox again while it was being resumed');
  if (isUsable(resumed.state)) return;
  if ((await waitUntilUsable(job, sandboxId, { since })) !== 'usable') throw gone(sandboxId);
}

/**
 * Reads the sandbox until no stop is under way. A lease to work would hold back the escalation of a stop that goes on
 * failing, while the job waits for the end of that stop. So the job leases only the content for as long as it waits.
 */
async function waitUntilNotStopping(job: JobState, sandboxId: string): Promise<SandboxView> {
  const { carried } = job;
  for (;;) {
    if (carried.watched) await watchSandbox(job, sandboxId);
    if (carried.waitsForStop) await waitArchived(job, sandboxId);
    else {
      const sandbox = await readOrEnd(job, sandboxId);
      await notifyOwner(sandbox);
      if (sandbox.state !== 'archiving') return sandbox;
    }
    carried.waitsForStop = !carried.waitsForStop;
  }
}

async function waitArchived(job: JobState, sandboxId: string): Promise<void> {
  job.enter('waiting_for_archive');
  await until<true>(sandboxId, {
    ...waitOptions(job),
    waitedFor: 'archived',
    wakeOn: ['sandbox.archived', 'sandbox.error', 'sandbox.ready'],
    since: job.inbox.mark(),
    readFirst: true,
    read: async () => ((await readOrEnd(job, sandboxId)).state === 'archiving' ? undefined : true),
  });
}

/** The sandbox may be very new, so only a 404 that lasts is final. */
async function readOrEnd(job: JobState, sandboxId: string): Promise<SandboxView> {
  const lag = new Lag(job.timing.readLagMs);
  for (let polls = 0; ; polls += 1) {
    const sandbox = await readSandbox(job, sandboxId);
    if (sandbox?.state === 'cancelled') throw gone(sandboxId);
    if (sandbox) return sandbox;
    if (lag.lasts('missing')) throw gone(sandboxId);
    await sleep(Math.min(safetyPollMs(job.timing, polls), lag.remainingMs()), {
      summary: `${sandboxId} was not found; read again after this`,
    });
  }
}

function gone(sandboxId: string): JobTermination {
  return new JobTermination('rejected', jobError('sandbox_not_found', `There is no sandbox ${sandboxId}`));
}
