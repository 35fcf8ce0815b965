/** Resolves a call whose outcome is unknown: by evidence, by a person's decision, or by the policy. */
import { condition } from '@temporalio/workflow';
import type { Resolution } from '../../../src/protocol/messages.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import { sendNotification } from '../../shared/send-notification.js';
import { safetyPollMs } from '../../shared/wait-intervals.js';
import type { JobState } from '../job-state.js';

/** Number of reads before the policy decides: a proxy can deliver a call late, so evidence may still appear. */
const readsBeforePolicy = 4;

/** `found`: a read found the outcome. */
type Decision<T> = Resolution | ([T] extends [never] ? never : { readonly action: 'found'; readonly evidence: T });

/**
 * @param findEvidence a read that may still find the outcome of the call. Default: none; a policy other than `wait`
 * then decides at once
 * @throws ContinueAsNewRequest if the history is long
 */
export async function resolveUnknownOutcome<T = never>(
  run: JobState,
  step: 'create' | 'prompt' | 'command',
  message: string,
  findEvidence?: () => Promise<T | undefined>,
): Promise<Decision<T>> {
  const policy = run.input.onUnknownOutcome;
  if (policy !== 'wait' && !findEvidence) return { action: policy };
  run.resolution = null;
  run.block({ reason: 'outcome_unknown', step, message });
  if (policy === 'wait') void sendNotification(run, 'blocked', null, message);
  try {
    for (let polls = 0; ; polls += 1) {
      const summary = `${step}: waiting for evidence or for "jobs resolve"`;
      const isOver = () => run.resolution !== null || run.mustContinueAsNew();
      await condition(isOver, safetyPollMs(run.timing, polls), { summary });
      if (run.resolution) return run.resolution;
      run.continueAsNewIfDue();
      const evidence = await findEvidence?.();
      if (evidence !== undefined) return { action: 'found', evidence } as Decision<T>;
      if (policy !== 'wait' && polls + 1 >= readsBeforePolicy) return { action: policy };
    }
  } catch (error) {
    // If a decision arrived during a read, this run uses it: the next run would request it again.
    if (error instanceof ContinueAsNewRequest && run.resolution !== null) return run.resolution;
    throw error;
  } finally {
    run.resolution = null;
    run.unblock();
  }
}
