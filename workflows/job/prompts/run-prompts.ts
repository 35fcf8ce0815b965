/**
 * Runs the prompts of a job: in order in one conversation, or side by side in several. Goes on from the status of each:
 * one that has ended is left alone, one that is under way is followed, and only one that was not sent is sent.
 */
import { isFinalPromptStatus } from '../../../src/contract/states.js';
import type { JobPrompt, JobState } from '../state.js';
import { JobTermination, jobError } from '../termination.js';
import { waitUntilUsable } from '../wait-until-usable.js';
import { followPrompt } from './follow-prompt.js';
import { findAgain, sendPrompt } from './send-prompt.js';

/**
 * Runs all prompts, those that are added meanwhile too.
 * @throws JobTermination `prompt_failed` at the first failure in one conversation, or after all have ended in several
 */
export async function runPrompts(run: JobState, sandboxId: string): Promise<void> {
  const sideBySide = run.input.conversations === 'each' && run.input.prompts.length > 1;
  let next = 0;
  if (sideBySide) {
    const follows: Promise<void>[] = [];
    // One after the other: of two equal prompts on their way at once, evidence could not tell which was accepted.
    for (; next < run.input.prompts.length; next += 1) {
      await sendPrompt(run, next, null);
      const following = follow(run, sandboxId, next, true);
      // A send that fails ends the job before anybody awaits this one.
      following.catch(() => undefined);
      follows.push(following);
    }
    await Promise.all(follows);
  }
  for (; next < run.prompts.length; next += 1) {
    failIfOneFailed(run);
    run.goOnAsNewIfDue();
    await sendPrompt(run, next, askedConversation(run, next));
    await follow(run, sandboxId, next, false);
  }
  // With no step in between, so that no prompt is taken that would not be sent.
  run.takesPrompts = false;
  failIfOneFailed(run);
}

/** The conversation that a prompt is sent to: that of the first, and null for the first itself. */
function askedConversation(run: JobState, index: number): string | null {
  return index === 0 ? null : (run.prompts[0]?.conversationId ?? null);
}

function failIfOneFailed(run: JobState): void {
  const failed = run.prompts.find(({ status }) => status === 'failed' || status === 'interrupted');
  if (!failed) return;
  const code = failed.status === 'failed' ? 'prompt_failed' : 'prompt_interrupted';
  throw new JobTermination('prompt_failed', jobError(code, failed.error ?? `The prompt ${failed.status}`));
}

/** Sees one prompt to its end; `sandbox_lost` is only the end when the sandbox does not come back. */
async function follow(run: JobState, sandboxId: string, index: number, sideBySide: boolean): Promise<void> {
  const prompt = run.prompts[index];
  if (!prompt) throw new RangeError(`The job has no prompt ${index}`);
  if (isFinalPromptStatus(prompt.status)) return;
  for (;;) {
    run.enter('following');
    const since = run.inbox.mark();
    const end = await followPrompt(run, index, sideBySide);
    const { sandboxState, status, promptId, ...known } = end;
    const isStopped = sandboxState === 'archived' || sandboxState === 'archiving';
    if (status === 'not_found') {
      await findAgain(run, prompt, sideBySide ? null : askedConversation(run, index));
      continue;
    }
    if (status === 'sandbox_lost') {
      if (sandboxState !== null && !isStopped) {
        if ((await waitUntilUsable(run, sandboxId, { since, readFirst: true })) === 'usable') continue;
      }
      prompt.status = 'unknown';
      throw sandboxLost(isStopped);
    }
    Object.assign(prompt, known, { status, promptId: promptId ?? prompt.promptId });
    run.reached('answered');
    const endedWithSandbox = status !== 'completed' && (sandboxState === null || isStopped || sandboxState === 'error');
    if (endedWithSandbox) throw sandboxState === 'error' ? sandboxInError(prompt) : sandboxLost(isStopped);
    return;
  }
}

function sandboxLost(isStopped: boolean): JobTermination {
  const why = isStopped ? 'was stopped' : 'went away';
  return new JobTermination('sandbox_failed', jobError('sandbox_stopped', `The sandbox ${why} under the prompt`));
}

function sandboxInError({ error }: JobPrompt): JobTermination {
  const message = `The sandbox fell into error under the prompt: ${error ?? 'no reason given'}`;
  return new JobTermination('sandbox_failed', jobError('sandbox_error', message));
}
