/**
 * Runs the prompts of a job: sequentially in one conversation, or in parallel in several. Continues from the status of
 * each prompt: skips a prompt that has ended, follows a running prompt, and sends only prompts that were not sent.
 */
import { patched } from '@temporalio/workflow';
import type { PromptEnd } from '../../../activities/prompt/end.js';
import { isFinalPromptStatus } from '../../../src/contract/workflow-safe/states.js';
import { lacksAnswer } from '../../../src/protocol/shortfall.js';
import type { InboxMark } from '../../shared/event-inbox.js';
import { JobTermination, jobError, outcomeUnknown, sandboxFailed, sandboxLost } from '../../shared/job-termination.js';
import type { JobPrompt } from '../carried-job.js';
import type { JobState } from '../job-state.js';
import { waitUntilUsable } from '../sandbox/wait-until-usable.js';
import { followPrompt } from './follow-prompt.js';
import type { PromptPlace } from './prompt-query.js';
import { findAgain, sendPrompt, unreadPromptPatch } from './send-prompt.js';

/**
 * Runs all prompts, including those added in the meantime.
 * @throws JobTermination `prompt_failed`: in one conversation, at the first failure; in several, once all prompts have
 *   ended
 */
export async function runPrompts(job: JobState, sandboxId: string): Promise<void> {
  const sideBySide = job.input.conversations === 'each' && job.input.prompts.length > 1;
  let next = 0;
  if (sideBySide) {
    const follows: Promise<void>[] = [];
    // Prompts are sent one after the other. If two equal prompts were sent at once, the history could not show which
    // one was accepted.
    for (; next < job.input.prompts.length; next += 1) {
      const place = { sandboxId, index: next, conversationId: null };
      await sendPrompt(job, place, false);
      const following = follow(job, place, true);
      // If a later send fails, the job ends before this promise is awaited.
      following.catch(() => undefined);
      follows.push(following);
    }
    await Promise.all(follows);
  }
  for (; next < job.carried.prompts.length; next += 1) {
    failIfOneFailed(job);
    job.continueAsNewIfDue();
    const place = { sandboxId, index: next, conversationId: conversationFor(job, next) };
    const since = job.inbox.mark();
    const end = await sendPrompt(job, place, true);
    await follow(job, place, false, end ? { end, since } : null);
  }
  // There is no `await` between the loop and this line, so every accepted prompt is sent.
  job.takesPrompts = false;
  failIfOneFailed(job);
}

/**
 * The conversation that receives a prompt. The first prompt receives the one that the job continues, or null for a new
 * one. Later prompts receive the first prompt's conversation.
 */
function conversationFor(job: JobState, index: number): string | null {
  return index === 0 ? (job.input.conversationId ?? null) : (job.carried.prompts[0]?.conversationId ?? null);
}

function failIfOneFailed(job: JobState): void {
  const failed = job.carried.prompts.find(({ status }) => status === 'failed' || status === 'interrupted');
  if (!failed) return;
  const code = failed.status === 'failed' ? 'prompt_failed' : 'prompt_interrupted';
  throw new JobTermination('prompt_failed', jobError(code, failed.error ?? `The prompt ${failed.status}`));
}

/** What a follow of a prompt has found. Events after the mark `since` are newer. */
interface Found {
  readonly end: PromptEnd;
  readonly since: InboxMark;
}

/**
 * Follows one prompt to its end. `sandbox_lost` is final only if the sandbox does not come back.
 * @param followed what the call that sent the prompt has found. Default: it only sent it
 */
async function follow(
  job: JobState,
  place: PromptPlace,
  sideBySide: boolean,
  followed: Found | null = null,
): Promise<void> {
  const { sandboxId, index } = place;
  const prompt = job.promptOf(index);
  if (isFinalPromptStatus(prompt.status)) return;
  let wasLost = false;
  for (let found = followed; ; found = null) {
    // The call that sent a short prompt has also seen its end: the phase began before that.
    const beganAt = found === null ? Number.NaN : Date.parse(found.end.queuedAt ?? '');
    job.enter('following', Number.isNaN(beganAt) ? Date.now() : beganAt);
    const { end, since } = found ?? { since: job.inbox.mark(), end: await followPrompt(job, place, sideBySide) };
    const { sandboxState, status, promptId, degraded, sandbox, ...known } = end;
    job.seenAtEnd = sandbox;
    job.carried.degraded = degraded ?? job.carried.degraded;
    const isStopped = sandboxState === 'archived' || sandboxState === 'archiving';
    if (status === 'not_found') {
      if (await findAgain(job, prompt, place, end.note)) continue;
      Object.assign(prompt, { status: 'completed', note: 'It was said to be sent. The service does not show it.' });
      job.reached('answered');
      return;
    }
    if (status === 'sandbox_lost') {
      if (sandboxState !== null && !isStopped) {
        wasLost = (await waitUntilUsable(job, sandboxId, { since, readFirst: true })) === 'usable';
        if (wasLost) continue;
      }
      prompt.status = 'unknown';
      throw sandboxLost(sandboxState, 'during the prompt');
    }
    Object.assign(prompt, known, { status, promptId: promptId ?? prompt.promptId });
    job.reached('answered');
    // The agent ended with its machine, whatever the idle sandbox says.
    if (wasLost && status === 'completed' && end.note !== undefined && patched(unreadPromptPatch)) {
      prompt.status = 'unknown';
      throw sandboxLost(sandboxState, 'during the prompt');
    }
    // For items of a batch, `abandon` is the default and no wish.
    const isUnwanted = job.input.onUnknownOutcome === 'abandon' && !job.input.origin;
    if (lacksAnswer(prompt) && isUnwanted && patched(unreadPromptPatch)) {
      prompt.status = 'unknown';
      throw outcomeUnknown(prompt.note ?? '');
    }
    const endedWithSandbox = status !== 'completed' && (sandboxState === null || isStopped || sandboxState === 'error');
    if (endedWithSandbox)
      throw sandboxState === 'error' ? sandboxInError(prompt) : sandboxLost(sandboxState, 'during the prompt');
    return;
  }
}

function sandboxInError({ error }: JobPrompt): JobTermination {
  return sandboxFailed('sandbox_error', `The sandbox went into error during the prompt: ${error ?? 'no reason given'}`);
}
