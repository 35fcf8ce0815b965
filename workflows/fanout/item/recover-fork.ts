/**
 * A fork that an earlier run of an item made and left, and that is not running any more. It may have been prompted, and
 * what was done is in it: so it is resumed, and what was prompted there is looked for and followed. Where that cannot be, the
 * item is not prompted again in another fork unless somebody says so, or the records show that it never was.
 */
import { isCancellation, patched } from '@temporalio/workflow';
import { outcomeUnknownCode } from '../../../src/contract/service-failure.js';
import { resumeSandbox } from '../../job/adopt-sandbox.js';
import { promptRecordKey } from '../../job/prompts/prompt-query.js';
import { resolveUnknownOutcome } from '../../job/prompts/resolve-unknown-outcome.js';
import type { JobState } from '../../job/state.js';
import { JobTermination, jobError, toJobTermination } from '../../job/termination.js';
import { reads } from '../../shared/proxies.js';

/**
 * @returns `dead` where it was decided that the next generation does the work
 * @throws JobTermination `outcome_unknown` where it was decided, or the policy says, that nothing is repeated
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
 * Whether it may be of an earlier run. The answer to a key that was used before does not say so, and a list may omit it.
 */
export function mayBeOfEarlierRun(run: JobState): boolean {
  if (run.isFound) return true;
  const hasEarlierRuns = run.wasReset || run.input.origin?.lookFirst === true;
  return hasEarlierRuns && patched('what a key answers may be of an earlier run');
}

/** The same for a fork that is not there any more, unless it was never prompted. */
export async function settleGoneFork(run: JobState, sandboxId: string): Promise<'dead'> {
  if (await wasNeverPrompted(run, sandboxId)) return 'dead';
  return settleMissingFork(run, sandboxId, 'it is not there any more');
}

async function settleMissingFork(run: JobState, sandboxId: string, why: string): Promise<'dead'> {
  const message = `The sandbox ${sandboxId} may have been prompted by an earlier run, and cannot be read: ${why}`;
  const settled = await resolveUnknownOutcome<never>(run, 'create', message, async () => undefined);
  if (!('evidence' in settled) && settled.action === 'resend') return 'dead';
  throw new JobTermination('outcome_unknown', jobError(outcomeUnknownCode, message));
}

/**
 * A record is made before the first byte of a prompt, for a batch in the one store that it needs for all its workers. A job's
 * may be missing where its workers have stores of their own; so it is no less certain of a sandbox that is gone than ever.
 */
async function wasNeverPrompted(run: JobState, sandboxId: string): Promise<boolean> {
  if (!patched('a lost fork that was not prompted is let go')) return false;
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
