/** Deletes the sandbox of a job at its end. The service's record of the deletion confirms its end. */
import { sleep } from '@temporalio/workflow';
import type { DeletionResult } from '../../../src/protocol/job/job-result.js';
import { effects } from '../../shared/activity-options.js';
import { followDeletion } from '../../shared/follow-deletion.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { safetyPollMs } from '../../shared/wait-intervals.js';
import { holdingClaim } from '../../watch/hold-claim.js';
import type { JobState } from '../job-state.js';
import { confirmSandboxMissing, readSandbox } from '../sandbox/wait-until-usable.js';
import { stopSandbox } from './stop-sandbox.js';
import { takeTranscriptRequest } from './transcript.js';

/** Total attempts for a deletion that fails. */
const triesAtMost = 4;

const claim = { purpose: 'end', ends: 'any' } as const;

/**
 * Deletes the sandbox and waits until the deletion has completed. A claim prevents leases until then. If somebody
 * already leases the sandbox, stops it instead, unless another job works in it.
 */
export async function deleteSandbox(job: JobState, sandboxId: string): Promise<void> {
  job.enter('deleting');
  await holdingClaim(sandboxId, claim, () => deleteClaimed(job, sandboxId), job);
  if (job.deletion?.status === 'leased') await stopSandbox(job, sandboxId);
}

async function deleteClaimed(job: JobState, sandboxId: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    job.deletion = await deleteOnce(job, sandboxId);
    const { status } = job.deletion;
    if (status === 'completed' || status === 'gone' || status === 'leased' || tries >= triesAtMost) return;
    await sleep(safetyPollMs(job.timing, tries - 1), { summary: `the deletion is ${status}; retried after this` });
  }
}

async function deleteOnce(job: JobState, sandboxId: string): Promise<DeletionResult> {
  const answer = await retryRefusals(job, 'delete', () => {
    const before = { transcript: takeTranscriptRequest(job, sandboxId), result: job.takeResultToStore() };
    return effects.deleteClaimed(sandboxId, claim, before);
  });
  const { did, leasedBy, operationId } = answer;
  job.isTranscriptTaken = true;
  job.noteStored(answer);
  if (did === 'nothing')
    return { operationId: null, status: 'leased', error: `The sandbox is leased by ${leasedBy.join(', ')}` };
  if (did === 'gone') {
    // The sandbox may exist in spite of this answer. It counts only if no read shows it for `readLagMs`.
    const shown = await confirmSandboxMissing(job, sandboxId);
    if (shown === null) return { operationId, status: 'gone', error: null };
    return { operationId, status: 'failed', error: 'Reads show the sandbox, but the deletion did not find it' };
  }
  job.deletion = { operationId, status: 'pending', error: null };
  const end = await followDeletion(job, {
    operationId,
    isGone: async () => (await readSandbox(job, sandboxId)) === null,
    onPending: (seen) => {
      job.deletion = { operationId, ...seen };
    },
  });
  return { operationId, ...end };
}
