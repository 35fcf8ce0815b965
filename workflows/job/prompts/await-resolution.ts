/** Resolves a call whose outcome is unknown: by evidence, by a person's decision, or by the policy. */
import { condition } from '@temporalio/workflow';
import type { Resolution } from '../../messages.js';
import { sendNotification } from '../../notification/notify.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import { safetyPollMs } from '../../shared/wait-intervals.js';
import type { JobState } from '../state.js';

/** Reads before a policy decides: a proxy can deliver a call late, so evidence may still appear. */
const readsBeforePolicy = 4;

/**
 * @param lookForEvidence a read that may still find the outcome of the call
 * @returns the evidence, or the decision
 * @throws ContinueAsNewRequest if the history is long
 */
export async function resolveUnknownOutcome<T>(
  run: JobState,
  step: 'create' | 'prompt' | 'command',
  message: string,
  lookForEvidence: () => Promise<T | undefined>,
): Promise<{ readonly evidence: T } | Resolution> {
  const policy = run.input.onUnknownOutcome;
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
      const evidence = await lookForEvidence();
      if (evidence !== undefined) return { evidence };
      if (policy !== 'wait' && polls + 1 >= readsBeforePolicy) return { action: policy };
    }
  } catch (error) {
    // A decision that arrived during a read is used by this run: the next run would ask for it again.
    if (error instanceof ContinueAsNewRequest && run.resolution !== null) return run.resolution;
    throw error;
  } finally {
    run.resolution = null;
    run.unblock();
  }
}
