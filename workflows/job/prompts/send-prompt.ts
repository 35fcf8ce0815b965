/**
 * Sends one prompt of a job at most once, and resolves an unknown outcome.
 *
 *     send ─► accepted
 *      ▲ ├──► not promptable ─► wait until the sandbox is usable ─┐
 *      │ └──► unknown ─► found | abandon | resend ─┐              │
 *      └───────────────────────────────────────────┴──────────────┘
 */
import { CancellationScope, CancelledFailure, isCancellation, patched, sleep } from '@temporalio/workflow';
import type { PromptEnd } from '../../../activities/prompt/end.js';
import type { PromptEvidence } from '../../../activities/prompt/record.js';
import type { SendPromptInput } from '../../../activities/prompt/send.js';
import { outcomeUnknownCode } from '../../../src/contract/workflow-safe/service-failure.js';
import type { InboxMark } from '../../shared/event-inbox.js';
import { applicationCodeOf, outcomeUnknown, sandboxFailed, serviceFailureOf } from '../../shared/job-termination.js';
import { reads } from '../../shared/reads.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { promptAgainInMs } from '../../shared/wait-intervals.js';
import { callMachine } from '../call-machine.js';
import type { JobPrompt } from '../carried-job.js';
import { forShareOfCleanUp } from '../finish-despite-cancel.js';
import type { JobState } from '../job-state.js';
import { waitUntilUsable } from '../sandbox/wait-until-usable.js';
import { wasReset } from '../was-reset.js';
import { leaveFirstCopy, resolveUnknownOutcome } from './await-resolution.js';
import { type Sending, type Sent, send } from './prompt-call.js';
import { type PromptPlace, promptQuery, promptRecordKey } from './prompt-query.js';
import { recordAccepted } from './record-accepted.js';

/** The outcome of an attempt to send the prompt. */
type Attempt =
  | { readonly kind: 'accepted'; readonly sent: Sent }
  | { readonly kind: 'not_promptable' }
  | { readonly kind: 'unknown'; readonly error: unknown; readonly message: string };
type UnknownAttempt = Extract<Attempt, { kind: 'unknown' }>;

/**
 * Continues from the prompt's status: sends a prompt that is `not_sent`, searches for a prompt that is `sending` or
 * `unknown`, and skips any other.
 * @param follows true if the call that sends the prompt also follows it for a moment. Otherwise the next prompt can be
 *   sent at once
 * @returns the end of the prompt, if it was followed to its end
 * @throws JobTermination, or the error of the activity. The prompt's status then shows whether it was sent; `unknown`
 *   if that is uncertain
 */
export async function sendPrompt(job: JobState, place: PromptPlace, follows: boolean): Promise<PromptEnd | null> {
  const prompt = job.promptOf(place.index);
  if (!['not_sent', 'sending', 'unknown'].includes(prompt.status)) return null;
  const mayBeSent = prompt.status !== 'not_sent';
  const { ids, end } = await untilAccepted({
    ...sendingOf(job, place, prompt),
    follows,
    earlier: await earlierOf(job, place),
    mayBeSent,
  });
  if (job.carried.reachedAtMs.prompted === undefined) job.reached('prompted');
  accept(prompt, place, ids);
  return end;
}

function sendingOf(job: JobState, place: PromptPlace, prompt: JobPrompt) {
  const { index } = place;
  return { job, prompt, index, step: job.stepOf(index), query: promptQuery(job, place) };
}

function accept(prompt: JobPrompt, place: PromptPlace, { promptId, conversationId }: PromptEvidence): void {
  Object.assign(prompt, { promptId, conversationId: conversationId ?? place.conversationId, status: 'queued' });
  delete prompt.note;
}

/**
 * Returns what a missing record means. If earlier runs wrote their records to this store, a missing record proves that
 * the prompt was not sent.
 */
async function earlierOf(job: JobState, { sandboxId, index }: PromptPlace): Promise<SendPromptInput['earlier']> {
  if (job.promptOf(index).status !== 'not_sent') return 'doubt';
  // Batches require one store for all their workers.
  if (job.input.origin || !wasReset(job.carried)) return 'ask_record';
  if (index === 0) return 'doubt';
  const before = promptRecordKey(job, sandboxId, index - 1);
  const read = () => reads.readPromptRecord(before);
  return (await retryRefusals(job, 'read the record', read)) === null ? 'doubt' : 'ask_record';
}

async function untilAccepted(sending: Sending): Promise<Sent> {
  const { job } = sending;
  for (let tries = 0; ; tries += 1) {
    job.enter('prompting');
    const since = job.inbox.mark();
    const attempt = await attemptToSend(sending);
    if (attempt.kind === 'accepted') return attempt.sent;
    if (attempt.kind === 'not_promptable') {
      await waitUntilPromptable(sending, { since, tries });
      continue;
    }
    const decision = await decide(sending, attempt);
    if (decision !== 'resend') return { ids: decision, end: null };
    prepareResend(sending);
  }
}

/** @throws JobTermination if the machine is lost; the error of the call, if the service refuses it permanently */
async function attemptToSend(sending: Sending): Promise<Attempt> {
  const { job, query } = sending;
  try {
    const sent = await callMachine(job, query.sandboxId, 'prompt', () => sendOnce(sending));
    return { kind: 'accepted', sent };
  } catch (error) {
    const failure = serviceFailureOf(error);
    if (failure?.code === 'sandbox_not_promptable') return { kind: 'not_promptable' };
    if (failure?.code === outcomeUnknownCode) return { kind: 'unknown', error, message: failure.message };
    throw error;
  }
}

/**
 * The sandbox did not accept the prompt in spite of the event `sandbox.ready`. Reads the sandbox, then waits for the
 * next event.
 */
async function waitUntilPromptable(
  { job, query: { sandboxId } }: Sending,
  { since, tries }: { readonly since: InboxMark; readonly tries: number },
): Promise<void> {
  if (tries > 0) await sleep(promptAgainInMs(tries));
  if ((await waitUntilUsable(job, sandboxId, { since, readFirst: true })) === 'usable') return;
  throw sandboxFailed('sandbox_gone', 'The sandbox was deleted before the prompt');
}

/**
 * Waits for evidence, a person or the policy. @throws the error of the attempt if the decision is to abandon the job
 */
async function decide(sending: Sending, { error, message }: UnknownAttempt): Promise<PromptEvidence | 'resend'> {
  // In a shared sandbox, no prompt is adopted: its owner is unknown.
  const find = sending.query.isOwnSandbox ? () => findEvidence(sending) : undefined;
  const decided = await resolveUnknownOutcome(sending.job, 'prompt', message, find);
  if (decided.action === 'abandon') throw error;
  if (decided.action === 'resend') return decided.action;
  if (decided.action === 'found') return decided.evidence;
  return { promptId: decided.promptId ?? null, conversationId: decided.conversationId ?? null };
}

/** @param known what is known of the answer to the prompt */
async function findEvidence(
  { job, step, query }: Sending,
  known: { readonly despiteAnswer?: true } = {},
): Promise<PromptEvidence | undefined> {
  const input = { query, text: step.prompt, ...known };
  return (await retryRefusals(job, 'look for the prompt', () => reads.findPrompt(input))) ?? undefined;
}

function prepareResend(sending: Sending): void {
  sending.earlier = 'known_not';
  sending.mayBeSent = true;
  const why = 'It is unknown whether a prompt was accepted; the decision was to send it again.';
  leaveFirstCopy(sending.job, 'prompt', why);
}

/** Makes one call, and records its outcome in the prompt's status. */
async function sendOnce(sending: Sending): Promise<Sent> {
  const { job, prompt } = sending;
  // If the activity never starts, nothing was sent.
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('The prompt was not sent');
  prompt.status = 'sending';
  const isAccepted = () => prompt.status === 'queued';
  try {
    return await forShareOfCleanUp(job, send(sending), isAccepted);
  } catch (error) {
    if (isAccepted()) throw error;
    const status = await statusAfter(error, sending);
    if (status === 'queued') throw error;
    prompt.status = sending.mayBeSent ? 'unknown' : status;
    // After a refusal, no call of this run can still be on its way.
    if (status === 'not_sent') sending.earlier = 'known_not';
    throw error;
  }
}

/** The status of a prompt whose call failed. If the record shows that it was accepted, records its ids. */
async function statusAfter(error: unknown, { job, index, query }: Sending): Promise<'not_sent' | 'unknown' | 'queued'> {
  const code = serviceFailureOf(error)?.code ?? applicationCodeOf(error);
  if (code === outcomeUnknownCode) return 'unknown';
  const isCut = isCancellation(error) || CancellationScope.current().consideredCancelled;
  if (!isCut) return code === undefined ? 'unknown' : 'not_sent';
  // A cancel ended the call between two attempts. The first of them may have sent the prompt.
  try {
    const record = await CancellationScope.nonCancellable(() => reads.readPromptRecord(query.recordKey));
    if (record === null) return code !== undefined || job.input.origin !== undefined ? 'not_sent' : 'unknown';
    if (record.phase !== 'accepted' || !record.accepted) return record.phase === 'not_sent' ? 'not_sent' : 'unknown';
    const { promptId, conversationId } = record.accepted;
    const ids = { promptId, conversationId: conversationId ?? query.conversationId };
    recordAccepted(job, index, { ...ids, acceptedAtMs: Date.now() });
    return 'queued';
  } catch {
    return 'unknown';
  }
}

/** Jobs of the version before end where a prompt or its answer is not shown, or go on. */
export const unreadPromptPatch = 'unread-prompt';

/**
 * Searches again for an accepted prompt that the service does not show: the ids in its answer may belong to another one.
 * If it stays hidden, its outcome is unknown, as after a lost answer: a later read, a person or the policy decides.
 * @param note why nothing more is to be expected. Absent: the follow is of an earlier version, and the job ends
 * @returns false if a person says that it was sent, and has no id to follow it by
 * @throws JobTermination `outcome_unknown`
 */
export async function findAgain(
  job: JobState,
  prompt: JobPrompt,
  place: PromptPlace,
  note: string | undefined,
): Promise<boolean> {
  const sending: Sending = {
    ...sendingOf(job, place, prompt),
    ...{ follows: false, earlier: 'known_not', mayBeSent: true },
  };
  const find = () => findEvidence(sending, { despiteAnswer: true });
  let found = await find();
  let isFound = true;
  if (!found) {
    const error = outcomeUnknown(note ?? 'The service accepted the prompt, but does not show it');
    prompt.status = 'unknown';
    if (note === undefined || !patched(unreadPromptPatch)) throw error;
    prompt.note = note;
    const { onUnknownOutcome } = job.input;
    // What the service accepted may be at work, so only a person sends it again.
    const policy = onUnknownOutcome === 'resend' ? 'wait' : onUnknownOutcome;
    const evidence = sending.query.isOwnSandbox ? find : undefined;
    const decided = await resolveUnknownOutcome(job, 'prompt', note, evidence, policy);
    if (decided.action === 'abandon') throw error;
    if (decided.action === 'resend') prepareResend(sending);
    isFound = decided.action !== 'sent' || decided.promptId != null;
    const said = decided.action === 'sent' ? { promptId: null, conversationId: null, ...decided } : undefined;
    found = decided.action === 'found' ? decided.evidence : (said ?? (await untilAccepted(sending)).ids);
  }
  accept(prompt, place, found);
  return isFound;
}
