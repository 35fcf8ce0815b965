/** Resolves a call whose outcome is unknown: by evidence, by a person's decision, or by the policy. */
import { condition } from '@temporalio/workflow';
import type { JobInput } from '../../../src/protocol/job/job-input.js';
import type { Resolution } from '../../../src/protocol/messages.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import { observeBlock } from '../../shared/metrics.js';
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
 * @param policy default: that of the job
 * @throws ContinueAsNewRequest if the history is long
 */
export async function resolveUnknownOutcome<T = never>(
  job: JobState,
  step: 'create' | 'prompt' | 'command',
  message: string,
  findEvidence?: () => Promise<T | undefined>,
  policy: JobInput['onUnknownOutcome'] = job.input.onUnknownOutcome,
): Promise<Decision<T>> {
  if (policy !== 'wait' && !findEvidence) return { action: policy };
  job.resolution = null;
  job.block({ reason: 'outcome_unknown', step, message });
  if (policy === 'wait') void sendNotification(job, 'blocked', null, message);
  try {
    for (let polls = 0; ; polls += 1) {
      if (job.blocked) observeBlock(job.blocked, step);
      const summary = `${step}: waiting for evidence or for "jobs resolve"`;
      const isOver = () => job.resolution !== null || job.mustContinueAsNew();
      await condition(isOver, safetyPollMs(job.timing, polls), { summary });
      if (job.resolution) return job.resolution;
      job.continueAsNewIfDue();
      const evidence = await findEvidence?.();
      if (evidence !== undefined) return { action: 'found', evidence } as Decision<T>;
      if (policy !== 'wait' && polls + 1 >= readsBeforePolicy) return { action: policy };
    }
  } catch (error) {
    // If a decision arrived during a read, this run uses it: the next run would request it again.
    if (error instanceof ContinueAsNewRequest && job.resolution !== null) return job.resolution;
    throw error;
  } finally {
    job.resolution = null;
    job.unblock();
  }
}

/**
 * Both copies of what is sent again may run in the sandbox at the same time. Adds this to `left`, unless the sandbox is
 * stopped or deleted.
 */
export function leaveFirstCopy(job: JobState, kind: 'command' | 'prompt', why: string): void {
  const { input, sandbox } = job;
  if (input.source.kind !== 'existing' && input.end !== 'keep') return;
  job.leave({ kind, sandboxId: sandbox?.id ?? null, sandboxName: sandbox?.name ?? null, why });
}
