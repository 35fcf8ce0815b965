/** Sends one prompt of a job at most once, and resolves an unknown outcome. */
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
import { resolveUnknownOutcome } from './await-resolution.js';
import { promptQuery } from './prompt-query.js';

/** One prompt in flight. */
interface Sending {
  readonly run: JobState;
  readonly prompt: JobPrompt;
  readonly query: PromptQuery;
  /** What the next call must know about earlier ones. */
  earlier: SendPromptInput['earlier'];
  /** True if the prompt may have been sent before: a refusal now does not undo that. */
  isDoubted: boolean;
}

/**
 * Continues from the prompt's status: sends `not_sent`, searches for `sending` and `unknown`, and skips all others.
 * @param conversationId the conversation that receives it; null for a new one
 * @throws JobTermination, or the error of the activity; the status then says whether the prompt was sent, or `unknown`
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

/**
 * Whether a missing record proves that the prompt was not sent: it does if an earlier run wrote records to this store.
 */
async function earlierOf(run: JobState, index: number): Promise<SendPromptInput['earlier']> {
  if (run.prompts[index]?.status !== 'not_sent') return 'doubt';
  // Batches require one store for all their workers.
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
        // The event was only a hint: read the sandbox, then wait for the next event.
        if (tries > 0) await sleep(Math.min(30_000, 500 * 2 ** tries));
        if ((await waitUntilUsable(run, query.sandboxId, { since, readFirst: true })) === 'usable') continue;
        throw new JobTermination('sandbox_failed', jobError('sandbox_gone', 'The sandbox went away before the prompt'));
      } else throw error;
    }
  }
}

/** In a sandbox that remains, the first prompt may run in parallel with the resent one. */
function nameFirstSending(run: JobState): void {
  const { input, sandbox } = run;
  if (input.source.kind !== 'existing' && input.end !== 'keep') return;
  const why = 'It is not known whether a prompt was accepted, and it was decided to send it again.';
  run.leave({ kind: 'prompt', sandboxId: sandbox?.id ?? null, sandboxName: sandbox?.name ?? null, why });
}

/** Makes one call, and records its outcome in the prompt's status. */
async function sendOnce(sending: Sending) {
  const { prompt, query, earlier } = sending;
  // A call that never starts cannot have been sent.
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
    // A refusal is certain: no call of this run is in flight.
    if (status === 'not_sent') sending.earlier = 'known_not';
    throw error;
  }
}

async function statusAfter(error: unknown, { run, query }: Sending): Promise<'not_sent' | 'unknown'> {
  const code = serviceFailureOf(error)?.code ?? applicationCodeOf(error);
  if (code !== undefined) return code === outcomeUnknownCode ? 'unknown' : 'not_sent';
  if (!isCancellation(error)) return 'unknown';
  // A cancel between two attempts does not show what the earlier ones did; their record does.
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
 * Searches for a prompt that the service does not show under the ids of its answer: the answer belonged to another prompt.
 * @param conversationId the conversation that received it; null for a new one
 * @throws JobTermination `outcome_unknown` if the prompt is not found
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

/** The first line of a prompt, at most 80 characters. */
export function promptSummary(text: Text): string {
  return cut(headOf(text, 500).trim().split('\n', 1)[0] ?? '', 80);
}
