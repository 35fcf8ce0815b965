/** Requests the cancellation of a job or a batch. It is not an error if the job or batch has already ended. */
import { SandflowError } from '../../errors/sandflow-error.js';
import type { SandflowErrorCode } from '../../errors/sandflow-error-codes.js';

/** `again`: it was already being cancelled. `ended`: there was nothing left to cancel. */
export type CancelAsked = 'first' | 'again' | 'ended';

/**
 * @param cancel asks once
 * @param endedCode the code of its error for one that has ended
 */
export async function askToCancel(
  cancel: () => Promise<{ readonly again: boolean } | undefined>,
  endedCode: SandflowErrorCode,
): Promise<CancelAsked> {
  try {
    const answer = await cancel();
    return answer?.again ? 'again' : 'first';
  } catch (error) {
    if (error instanceof SandflowError && error.code === endedCode) return 'ended';
    throw error;
  }
}
