/** Sends one prompt of a job, at most once, and settles what became of it where nobody can know. */
import { CancellationScope, CancelledFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { PromptEvidence, PromptQuery } from '../../../activities/prompt/evidence.js';
import type { SendPromptInput } from '../../../activities/prompt/send.js';
import { outcomeUnknownCode } from '../../../src/contract/service-failure.js';
import { bytesOf, cut, headOf, type Text } from '../../../src/contract/texts.js';
import { forShareOfCleanUp } from '../../shared/finish-despite-cancel.js';
import { effects, reads, timeForSending } from '../../shared/proxies.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { callMachine } from '../call-machine.js';
import type { JobPrompt, JobState } from '../state.js';
import { applicationCodeOf, JobTermination, jobError, serviceFailureOf } from '../termination.js';
import { waitUntilUsable } from '../wait-until-usable.js';
import { promptQuery } from './prompt-query.js';
import { resolveUnknownOutcome } from './resolve-unknown-outcome.js';

/** One prompt on its way. */
interface Sending {
  readonly run: JobState;
  readonly prompt: JobPrompt;
  readonly query: PromptQuery;
  /** What the next call must know of earlier ones. */
  earlier: SendPromptInput['earlier'];
  /** True where it may have been sent before: a refusal now does not make that undone. */
  isDoubted: boolean;
}

/**
 * Goes on from the prompt's status: `not_sent` is sent, `sending` and `unknown` are looked for, all others are left alone.
 * @param conversationId the one that it is sent to; null for a new one
 * @throws JobTermination, or what the activity threw; the status then says whether the prompt was sent, or `unknown`
 */
export async function sendPrompt(run: JobState, index: number, conversationId: string | null): Promise<void> {
  const prompt = run.prompts[index];
  if (!prompt || !['not_sent', 'sending', 'unknown'].includes(prompt.status)) return;
  const query = promptQuery(run, index, conversationId);
  const isDoubted = prompt.status !== 'not_sent';
  const sending: Sending = { run, prompt, query, earlier: await earlierOf(run, index), isDoubted };
  const accepted = await untilAccepted(sending);
  if (!run.reachedAtMs.has('prompted')) run.reached('prompted');
  prompt.promptId = accepted.promptId;
  prompt.conversationId = accepted.conversationId ?? conversationId;
  prompt.status = 'queued';
}

/** Whether a missing record means that nobody has sent the prompt: so it does in the store where an earlier run left one. */
async function earlierOf(run: JobState, index: number): Promise<SendPromptInput['earlier']> {
  if (run.prompts[index]?.status !== 'not_sent') return 'doubt';
  // Batches need one store for all their workers.
  if (run.input.origin || !run.wasReset) return 'ask_record';
  if (index === 0) return 'doubt';
  const before = promptQuery(run, index - 1, null).recordKey;
  return (await reads.readPromptPhase(before)) === null ? 'doubt' : 'ask_record';
}

async function untilAccepted(sending: Sending): Promise<PromptEvidence> {
  const { run, query } = sending;
  for (let tries = 0; ; tries += 1) {
    run.enter('prompting');
    const since = run.inbox.mark();
    try {
      return await callMachine(run, query.sandboxId, 'prompt', () => sendOnce(sending));
    } catch (error) {
      const failure = serviceFailureOf(error);
      if (failure?.code === outcomeUnknownCode) {
        const settled = await settle(sending, failure.message);
        if (settled === 'abandon') throw error;
        if (settled !== 'resend') return settled;
        sending.earlier = 'known_not';
        sending.isDoubted = true;
        nameFirstSending(run);
      } else if (failure?.code === 'sandbox_not_promptable') {
        // What woke the job was only a hint: ask the service, then wait for the next one.
        if (tries > 0) await sleep(Math.min(30_000, 500 * 2 ** tries));
        if ((await waitUntilUsable(run, query.sandboxId, { since, readFirst: true })) === 'usable') continue;
        throw new JobTermination('sandbox_failed', jobError('sandbox_gone', 'The sandbox went away before the prompt'));
      } else throw error;
    }
  }
}

/** In a sandbox that stays, what was sent first may be at work beside what is sent again. */
function nameFirstSending(run: JobState): void {
  const { input, sandbox } = run;
  if (input.source.kind !== 'existing' && input.end !== 'keep') return;
  const why = 'It is not known whether a prompt was accepted, and it was decided to send it again.';
  run.leave({ kind: 'prompt', sandboxId: sandbox?.id ?? null, sandboxName: sandbox?.name ?? null, why });
}

/** One call. Whatever comes of it, the prompt's status says it. */
async function sendOnce(sending: Sending) {
  const { prompt, query, earlier } = sending;
  // What is not begun cannot have been sent.
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('The prompt was not sent');
  const { conversationId } = query;
  const body = { ...prompt.step, ...(conversationId === null ? { new: true } : { conversationId }) };
  prompt.status = 'sending';
  try {
    const text = prompt.step.prompt;
    const options = { summary: promptSummary(text), ...timeForSending(bytesOf(text)) };
    const call = effects.sendPrompt.executeWithOptions(options, [{ query, body, earlier }]);
    return await forShareOfCleanUp(sending.run, call);
  } catch (error) {
    const status = await statusAfter(error, sending);
    prompt.status = sending.isDoubted ? 'unknown' : status;
    // A refusal is certain: nothing of this run is on its way.
    if (status === 'not_sent') sending.earlier = 'known_not';
    throw error;
  }
}

async function statusAfter(error: unknown, { run, query }: Sending): Promise<'not_sent' | 'unknown'> {
  const code = serviceFailureOf(error)?.code ?? applicationCodeOf(error);
  if (code !== undefined) return code === outcomeUnknownCode ? 'unknown' : 'not_sent';
  if (!isCancellation(error)) return 'unknown';
  // A cancel between two attempts says nothing of the earlier ones; their record does.
  try {
    const phase = await CancellationScope.nonCancellable(() => reads.readPromptPhase(query.recordKey));
    const isCertain = phase === 'not_sent' || (phase === null && run.input.origin !== undefined);
    return isCertain ? 'not_sent' : 'unknown';
  } catch {
    return 'unknown';
  }
}

/** Waits for evidence, a person or the policy. */
async function settle(
  { run, prompt, query }: Sending,
  message: string,
): Promise<PromptEvidence | 'resend' | 'abandon'> {
  const look = async () => {
    if (!query.isOwnSandbox) return undefined;
    const text = prompt.step.prompt;
    return (await retryRefusals(run, 'look for the prompt', () => reads.findPrompt({ query, text }))) ?? undefined;
  };
  const settled = await resolveUnknownOutcome(run, 'prompt', message, look);
  if ('evidence' in settled) return settled.evidence;
  if (settled.action !== 'sent') return settled.action;
  return { promptId: settled.promptId ?? null, conversationId: settled.conversationId ?? null };
}

/**
 * Finds a prompt of which the service shows nothing under the ids that it answered with: the answer was not of this prompt.
 * @param conversationId the one that it was sent to; null for a new one
 * @throws JobTermination `outcome_unknown` where it is not found
 */
export async function findAgain(run: JobState, prompt: JobPrompt, conversationId: string | null): Promise<void> {
  const query = promptQuery(run, run.prompts.indexOf(prompt), conversationId);
  const input = { query, text: prompt.step.prompt, despiteAnswer: true };
  const found = await retryRefusals(run, 'look for the prompt', () => reads.findPrompt(input));
  if (found === null) {
    prompt.status = 'unknown';
    const message = 'The service said that it had queued the prompt, and shows nothing of it';
    throw new JobTermination('outcome_unknown', jobError(outcomeUnknownCode, message));
  }
  prompt.promptId = found.promptId;
  prompt.conversationId = found.conversationId ?? conversationId;
}

/** One line of a prompt. */
export function promptSummary(text: Text): string {
  return cut(headOf(text, 500).trim().split('\n', 1)[0] ?? '', 80);
}
