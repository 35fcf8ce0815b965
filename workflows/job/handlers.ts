/** The signal, query and update handlers of a running job. */
import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import type { PromptStep } from '../../src/protocol/job/job-input.js';
import { maxInlineBytes, maxSteps } from '../../src/protocol/limits.js';
import {
  leftRunningSignal,
  progressQuery,
  promptUpdate,
  resolveUpdate,
  sandboxEventSignal,
  sandboxSharedSignal,
  skipCollectingSignal,
} from '../../src/protocol/messages.js';
import { bytesOf } from '../../src/protocol/stored-text.js';
import { payloadBytes } from '../../src/texts/length.js';
import { answerOnce, isAnswered } from '../shared/answered-updates.js';
import type { JobState } from './job-state.js';
import { progressOf } from './report.js';

/** Longest resolution, in bytes: it holds only ids. */
const maxResolutionBytes = 2_000;
/** Longest prompt step without its text, in bytes. */
const maxOptionsBytes = 4_000;
/** The most bytes of all added prompt steps without their texts: references to 1,000 stored texts fit. */
const maxAddedBytes = 400_000;

export function handleMessages(job: JobState): void {
  setHandler(sandboxEventSignal, (event) => {
    job.inbox.record(event);
    if (event.sandboxId === job.sandbox?.id && event.type !== 'sandbox.hydrated') job.hintsOfEnd += 1;
  });
  setHandler(leftRunningSignal, ({ sandboxId }) => {
    if (sandboxId === job.sandbox?.id) job.hintsOfEnd += 1;
  });
  setHandler(progressQuery, () => progressOf(job));
  setHandler(skipCollectingSignal, () => {
    job.skipsCollecting = true;
    job.onSkipCollecting?.();
  });
  setHandler(sandboxSharedSignal, () => {
    job.carried.isShared = true;
  });
  const { answered } = job.carried;
  setHandler(promptUpdate, (step) => answerOnce(answered, () => ({ index: job.addPrompt(step) })), {
    validator(step) {
      if (isAnswered(answered)) return;
      if (!job.takesPrompts) throw refused('This job is ending and accepts no prompts.');
      const problem = promptProblem(job, step);
      if (problem) throw refused(problem);
    },
  });
  setHandler(
    resolveUpdate,
    (resolution) =>
      answerOnce(answered, () => {
        job.resolution = resolution;
        return { step: job.blocked?.step ?? '' };
      }),
    {
      validator(resolution) {
        if (isAnswered(answered)) return;
        if (!['sent', 'resend', 'abandon'].includes(resolution.action))
          throw refused('The decision must be "sent", "resend" or "abandon".');
        if (payloadBytes(resolution) > maxResolutionBytes)
          throw refused('The decision is too long: it may hold only ids.');
        if (job.blocked?.reason !== 'outcome_unknown') throw refused('This job does not wait for a decision.');
        if (job.resolution !== null) throw refused('A decision was already made.');
        if (resolution.action === 'sent' && job.blocked.step === 'create' && resolution.sandboxId === undefined)
          throw refused('Name the sandbox that the call created.');
      },
    },
  );
}

/**
 * Why a prompt is refused; undefined if it is accepted. If the state of a job is too large for continue-as-new, the job
 * ends without a result. So such a prompt is refused.
 */
export function promptProblem(job: JobState, step: PromptStep): string | undefined {
  const { prompt } = step;
  const isText = typeof prompt === 'string';
  if (isText ? prompt.trim() === '' : !(prompt?.bytes > 0)) return 'The prompt is empty.';
  if (job.carried.prompts.length >= maxSteps) return `This job already has ${maxSteps} prompts, the maximum.`;
  if (bytesBesideText(step) > maxOptionsBytes) return 'The options of the prompt are too long.';
  const addedBytes = job.carried.addedPrompts.reduce((sum, added) => sum + bytesBesideText(added), 0);
  if (addedBytes + bytesBesideText(step) > maxAddedBytes)
    return `The prompts that were added to this job have options of ${addedBytes} bytes, and may have at most ${maxAddedBytes}. Send further prompts to another job.`;
  const texts = job.steps.map(({ prompt: text }) => (typeof text === 'string' ? bytesOf(text) : 0));
  const leftBytes = maxInlineBytes - texts.reduce((sum, bytes) => sum + bytes, 0);
  if (!isText || bytesOf(prompt) <= leftBytes) return undefined;
  return `The prompt takes ${bytesOf(prompt)} bytes, but the prompts of this job may take only ${Math.max(0, leftBytes)} more. Shorten it, or send it through the result store that the workers share.`;
}

function bytesBesideText(step: PromptStep): number {
  const { prompt, ...options } = step;
  return payloadBytes(typeof prompt === 'string' ? options : step);
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'refused');
}
