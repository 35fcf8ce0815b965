/** Interrupts the running prompts of a job, and reports the prompts that it could not interrupt. */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { PromptEnd } from '../../../activities/prompt/end.js';
import { effects } from '../../shared/activity-options.js';
import { serviceFailureOf, toJobTermination } from '../../shared/job-termination.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import type { JobState } from '../job-state.js';
import { followInputOf, followToEnd } from './follow-prompt.js';
import type { SentPrompt } from './prompt-query.js';

const runs: ReadonlySet<string> = new Set(['queued', 'running']);
const mayRun: ReadonlySet<string> = new Set([...runs, 'sending', 'unknown']);
const triesAtMost = 10;
/** How long the first interrupt may take to end the prompt, in ms. Each further interrupt gets twice the time. */
const waitMs = 2_000;

/**
 * Interrupts accepted prompts in known conversations. Interrupts a prompt again only while that prompt is still
 * running: others may prompt in the same conversation.
 */
export async function interruptPrompts(job: JobState): Promise<void> {
  for (const [index, { status, conversationId }] of job.carried.prompts.entries()) {
    if (!runs.has(status) || conversationId === null) continue;
    job.enter('interrupting');
    try {
      await interruptPrompt(job, index);
    } catch (error) {
      // A prompt that cannot be interrupted is reported as left behind, unless its sandbox ends.
      if (isCancellation(error)) throw error;
      toJobTermination(error);
    }
  }
}

async function interruptPrompt(job: JobState, index: number): Promise<void> {
  const prompt = job.promptOf(index);
  if (!job.sandbox) return;
  const { id } = job.sandbox;
  const sent = { sandboxId: id, index };
  job.wasAtWork.set(index, false);
  for (let tries = 0; tries < triesAtMost; tries += 1) {
    // The prompt may have ended in the meantime, and somebody else may have sent a prompt to its conversation.
    const again = tries === 0 ? undefined : followInputOf(job, sent, true);
    try {
      const interrupt = () => effects.interruptSandbox(id, prompt.conversationId, again);
      const interrupted = await retryRefusals(job, 'interrupt', interrupt);
      if (interrupted !== 0) job.wasAtWork.set(index, interrupted === null ? undefined : true);
    } catch (error) {
      // The service refuses permanently. A machine that no longer runs has no prompts to interrupt.
      if (serviceFailureOf(error) === undefined) throw error;
      if (job.wasAtWork.get(index) === false) job.wasAtWork.delete(index);
    }
    const end = await endWithin(job, sent, waitMs * 2 ** tries);
    if (end === undefined) continue;
    if (end.status === 'sandbox_lost') return;
    const { sandboxState: _, degraded: __, sandbox: ___, promptId, ...known } = end;
    Object.assign(prompt, known, { promptId: promptId ?? prompt.promptId });
    return;
  }
}

/** @returns undefined if the prompt did not end in time */
async function endWithin(job: JobState, sent: SentPrompt, ms: number): Promise<PromptEnd | undefined> {
  const outer = CancellationScope.current();
  try {
    return await CancellationScope.withTimeout(ms, () => followToEnd(job, sent, followInputOf(job, sent, true)));
  } catch (error) {
    if (!isCancellation(error) || outer.consideredCancelled) throw error;
    return undefined;
  }
}

/** Adds prompts to `left` that may still run, if the sandbox is not stopped or deleted. */
export function nameRunningPrompts(job: JobState): void {
  const { id: sandboxId = null, name: sandboxName = null } = job.sandbox ?? {};
  for (const { status, conversationId } of job.carried.prompts) {
    if (!mayRun.has(status)) continue;
    const why =
      status === 'unknown' || status === 'sending'
        ? 'It is unknown whether a prompt was accepted; an agent may be working on it.'
        : `A prompt could not be interrupted, and was last seen ${status}.`;
    job.leave({ kind: 'prompt', sandboxId, sandboxName, conversationId, why });
  }
}
