/**
 * A fork that an earlier run of an item made and left, and that is not running any more. It may have been prompted, and
 * what was done is in it: so it is resumed, and what was prompted there is looked for and followed. Where that cannot be, the
 * item is not prompted again in another fork unless somebody says so.
 */
import { isCancellation } from '@temporalio/workflow';
import { outcomeUnknownCode } from '../../src/contract/service-failure.js';
import { resumeSandbox } from './adopt-sandbox.js';
import { endOf, JobEnded, jobError } from './job-ended.js';
import type { JobRun } from './job-run.js';
import { settleUnknown } from './unknown-outcome.js';

/**
 * @returns `dead` where it was decided that the next generation does the work
 * @throws JobEnded `outcome_unknown` where it was decided, or the policy says, that nothing is repeated
 */
export async function takeUpStopped(run: JobRun, sandboxId: string): Promise<'usable' | 'dead'> {
  try {
    await resumeSandbox(run, sandboxId);
    return 'usable';
  } catch (error) {
    if (isCancellation(error)) throw error;
    return settleLostFork(run, sandboxId, endOf(error).jobError.message);
  }
}

/** The same for a fork that is not there any more. */
export async function settleLostFork(run: JobRun, sandboxId: string, why: string): Promise<'dead'> {
  const message = `The fork ${sandboxId} may have been prompted by an earlier run of this item, and cannot be read: ${why}`;
  const settled = await settleUnknown<never>(run, 'create', message, async () => undefined);
  if (!('evidence' in settled) && settled.action === 'resend') return 'dead';
  throw new JobEnded('outcome_unknown', jobError(outcomeUnknownCode, message));
}
