/**
 * Recovers a fork that an earlier run of an item created and that no longer runs. The fork may have received prompts
 * and may contain work. So the item resumes it, searches for earlier prompts, and follows them. If that is impossible,
 * another fork is prompted only if a person decides so, or if the records show that no prompt of the item was ever
 * sent.
 */
import { isCancellation } from '@temporalio/workflow';
import type { JobState } from '../../job/job-state.js';
import { resolveUnknownOutcome } from '../../job/prompts/await-resolution.js';
import { promptRecordKey } from '../../job/prompts/prompt-query.js';
import { resumeSandbox } from '../../job/sandbox/adopt-sandbox.js';
import { outcomeUnknown, toJobTermination } from '../../shared/job-termination.js';
import { reads } from '../../shared/reads.js';

/**
 * @returns `dead` if the item's next generation must do the work
 * @throws JobTermination `outcome_unknown` if the decision or the policy is to repeat nothing
 */
export async function recoverStoppedFork(run: JobState, sandboxId: string): Promise<'usable' | 'dead'> {
  try {
    await resumeSandbox(run, sandboxId);
    return 'usable';
  } catch (error) {
    if (isCancellation(error)) throw error;
    return settleMissingFork(run, sandboxId, toJobTermination(error).jobError.message);
  }
}

/**
 * True if an earlier run may have created the fork. The answer to a create with a reused key does not show whether the
 * fork is new, and a list may omit the fork.
 */
export function mayBeOfEarlierRun(run: JobState): boolean {
  return run.isFound || run.wasReset || run.input.origin?.lookFirst === true;
}

/**
 * Handles a fork that no longer exists. If no prompt was sent to it, the next generation does the work. Otherwise
 * somebody must decide, as in `recoverStoppedFork`.
 */
export async function settleGoneFork(run: JobState, sandboxId: string): Promise<'dead'> {
  if (await wasNeverPrompted(run, sandboxId)) return 'dead';
  return settleMissingFork(run, sandboxId, 'it no longer exists');
}

async function settleMissingFork(run: JobState, sandboxId: string, why: string): Promise<'dead'> {
  const message = `The sandbox ${sandboxId} may have been prompted by an earlier run, and cannot be read: ${why}`;
  const { action } = await resolveUnknownOutcome(run, 'create', message);
  if (action === 'resend') return 'dead';
  throw outcomeUnknown(message);
}

/**
 * Each prompt has a record, which is written before the prompt is sent. All workers of a batch share one store, so a
 * missing record proves that no prompt was sent. For a job it proves nothing, because its workers may have separate
 * stores.
 */
async function wasNeverPrompted(run: JobState, sandboxId: string): Promise<boolean> {
  try {
    for (const index of run.prompts.keys()) {
      const phase = await reads.readPromptPhase(promptRecordKey(run, sandboxId, index));
      if (phase !== null && phase !== 'not_sent') return false;
    }
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return false;
  }
}
