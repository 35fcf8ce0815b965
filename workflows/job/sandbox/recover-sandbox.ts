/**
 * Recovers a sandbox that an earlier run of a job created and that no longer runs, such as the fork of an item of a
 * batch that is resumed. The sandbox may have received prompts and may contain work. So the job resumes it, searches
 * for earlier prompts, and follows them. If that is impossible, another sandbox is prompted only if a person decides so,
 * or if the records show that no prompt of the job was ever sent.
 */
import { isCancellation } from '@temporalio/workflow';
import { outcomeUnknown, toJobTermination } from '../../shared/job-termination.js';
import { reads } from '../../shared/reads.js';
import type { JobState } from '../job-state.js';
import { resolveUnknownOutcome } from '../prompts/await-resolution.js';
import { promptRecordKey } from '../prompts/prompt-query.js';
import { wasReset } from '../was-reset.js';
import { resumeSandbox } from './adopt-sandbox.js';

/**
 * @returns `dead` if the next generation must do the work
 * @throws JobTermination `outcome_unknown` if the decision or the policy is to repeat nothing
 */
export async function recoverStopped(job: JobState, sandboxId: string): Promise<'usable' | 'dead'> {
  try {
    await resumeSandbox(job, sandboxId);
    return 'usable';
  } catch (error) {
    if (isCancellation(error)) throw error;
    return settleMissing(job, sandboxId, toJobTermination(error).jobError.message);
  }
}

/**
 * True if an earlier run may have created the sandbox. The answer to a create with a reused key does not show whether
 * the sandbox is new, and a list may omit it.
 */
export function mayBeOfEarlierRun(job: JobState): boolean {
  return job.carried.isFound || wasReset(job.carried) || job.input.origin?.lookFirst === true;
}

/**
 * Handles a sandbox that no longer exists. If no prompt was sent to it, the next generation does the work. Otherwise
 * somebody must decide, as in `recoverStopped`.
 */
export async function settleGone(job: JobState, sandboxId: string): Promise<'dead'> {
  if (await wasNeverPrompted(job, sandboxId)) return 'dead';
  return settleMissing(job, sandboxId, 'it no longer exists');
}

async function settleMissing(job: JobState, sandboxId: string, why: string): Promise<'dead'> {
  const message = `The sandbox ${sandboxId} may have been prompted by an earlier run, and cannot be read: ${why}`;
  const { action } = await resolveUnknownOutcome(job, 'create', message);
  if (action === 'resend') return 'dead';
  throw outcomeUnknown(message);
}

/**
 * Each prompt has a record, which is written before the prompt is sent. All workers of a batch share one store, so a
 * missing record proves that no prompt was sent. For a job it proves nothing, because its workers may have separate
 * stores.
 */
async function wasNeverPrompted(job: JobState, sandboxId: string): Promise<boolean> {
  try {
    for (const index of job.carried.prompts.keys()) {
      const record = await reads.readPromptRecord(promptRecordKey(job, sandboxId, index));
      if (record !== null && record.phase !== 'not_sent') return false;
    }
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return false;
  }
}

/**
 * An earlier run may have sent prompts that this run did not come to, because it ended before. Their status is then what
 * their records say.
 */
export async function recallPrompts(job: JobState, sandboxId: string): Promise<void> {
  if (!mayBeOfEarlierRun(job)) return;
  for (const [index, prompt] of job.carried.prompts.entries()) {
    if (prompt.status !== 'not_sent') continue;
    const record = await reads.readPromptRecord(promptRecordKey(job, sandboxId, index));
    if (record === null || record.phase === 'not_sent') continue;
    const { promptId, conversationId } = record.accepted ?? prompt;
    Object.assign(prompt, { promptId, conversationId, status: record.accepted ? 'queued' : 'unknown' });
  }
}
