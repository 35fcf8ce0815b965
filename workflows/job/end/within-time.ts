/** Runs a step of a cleanup, and cuts it short when its time is over. */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { notSentCode } from '../../../src/contract/workflow-safe/service-failure.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import { applicationCodeOf, jobError, toJobTermination } from '../../shared/job-termination.js';
import { runFor } from '../../shared/shared-timer.js';

/**
 * Runs a step with a time limit, in ms.
 * @param lateText the message if its time, or the time of the caller, was over before it ended
 * @returns why it did not end, or null
 */
export async function problemWithin(
  ms: number,
  step: () => Promise<void> | undefined,
  lateText: string,
): Promise<JobError | null> {
  const scope = new CancellationScope();
  try {
    await runFor(scope, { ms, summary: 'until the cleanup ends this step' }, async () => step());
    return null;
  } catch (error) {
    if (wasCutShort(scope, error)) return jobError('clean_up_unfinished', lateText);
    return toJobTermination(error).jobError;
  }
}

/**
 * True if a step failed because its scope was cancelled. An activity that was to be retried, or was about to make its
 * call, then fails with an error of its own instead of a cancellation.
 */
export function wasCutShort(scope: CancellationScope, error: unknown): boolean {
  return scope.consideredCancelled || isCancellation(error) || applicationCodeOf(error) === notSentCode;
}
