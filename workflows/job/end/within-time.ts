/** Runs a step of a cleanup, and cuts it short when its time is over. */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { notSentCode } from '../../../src/contract/errors/service-failure.js';
import { applicationCodeOf } from '../termination.js';

/**
 * Runs a step with a time limit, in ms.
 * @returns false if its time, or the time of the caller, was over before it ended
 * @throws the error of a step that failed in its time
 */
export async function withinTime(ms: number, step: () => Promise<void> | undefined): Promise<boolean> {
  const scope = new CancellationScope({ cancellable: true, timeout: Math.max(1, Math.round(ms)) });
  try {
    await scope.run(async () => step());
    return true;
  } catch (error) {
    if (wasCutShort(scope, error)) return false;
    throw error;
  }
}

/**
 * True if a step failed because its scope was cancelled. An activity that was to be retried, or was about to make its
 * call, then fails with an error of its own instead of a cancellation.
 */
export function wasCutShort(scope: CancellationScope, error: unknown): boolean {
  return scope.consideredCancelled || isCancellation(error) || applicationCodeOf(error) === notSentCode;
}
