/**
 * Retry class `evidence`: calls without an idempotency key that must not be made twice (trap S3). The activity writes
 * its intent to Temporal, and waits until Temporal has it, before the first byte goes out:
 *
 *     (nothing) ──intent──► sending ──accepted──► done
 *                              └──certainly not──► not_sent
 *
 * A later attempt that finds no intent, or `not_sent`, sends. One that finds `sending` looks for evidence and never
 * sends. An attempt that Temporal has given up cannot write its intent any more, and so cannot send either.
 *
 * Beats tell Temporal while the call lasts that somebody waits for its answer. A cancel does not cut it: the workflow must
 * learn what it did.
 */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { EndpointName } from '../../src/contract/endpoints.js';
import { notSentCode, outcomeUnknownCode } from '../../src/contract/service-failure.js';
import type { Attempt, Spent } from './attempt.js';
import { describeFailure, effectOf, finalFailure, outcomeUnknown, retryOwner } from './classify.js';
import { createIntentBeats, type IntentBeats } from './heartbeat.js';

/** What others than this activity may have done, from where they left it. */
export type Earlier<Value, Known> =
  | { readonly was: 'not_sent' }
  | { readonly was: 'accepted'; readonly value: Value }
  /** Nobody knows: it is only looked for. `known` is undefined where nothing was left. */
  | { readonly was: 'perhaps_sent'; readonly known: Known | undefined };

export interface EvidenceCall<Value, Known> {
  readonly endpoint: EndpointName;
  readonly attempt: Attempt;
  /** What is sent, such as `the prompt`, for messages. */
  readonly what: string;
  /** Where evidence is looked for, such as `the history of bx_…`, for messages. */
  readonly where: string;
  /** Asked before anything else is done, for what another activity may have sent. Default: nobody has. */
  readonly earlier?: () => Promise<Earlier<Value, Known>>;
  /**
   * Makes and keeps what `look` must know of the time before the first byte. It is also kept with the intent, so it is small
   * and holds no secret. Where it fails, nothing is sent, and it is tried again.
   */
  readonly before: () => Promise<Known>;
  /** How long the call may take at most, in ms, where the attempt lasts so long. Default 30 s. */
  readonly longestMs?: number | undefined;
  /** Without an abort signal: a call that is cut in the middle would leave the outcome unknown for nothing. */
  readonly send: (timeoutMs: number) => Promise<Value>;
  /** Evidence that it took effect, or null. `known` is undefined where no record was made. */
  readonly look: (known: Known | undefined) => Promise<Value | null>;
  /** Keeps what became of the call. Best effort. */
  readonly settled?: (known: Known, value: Value | null) => Promise<void>;
}

interface Intent<Known> {
  /** Undefined where no attempt came so far. */
  readonly phase?: 'sending' | 'not_sent';
  readonly known?: Known;
  /** What the attempts have cost; `createAttempt` goes on counting from it. */
  readonly spent?: Spent;
}

/** The call is given up this long before the attempt's own end. */
const marginMs = 5_000;
const longestCallMs = 30_000;
/** An attempt that has less than this for its call does not make it. */
const shortestCallMs = 5_000;
/** Temporal may have given an attempt up whose intent it took so slowly. */
const slowestIntentMs = 5_000;
const evidenceDelaysMs = [0, 500, 1_500, 3_000];

/**
 * Makes the call at most once.
 * @throws ApplicationFailure `outcome_unknown` when nobody can know whether it took effect, `not_sent` when a cancel came
 *   before the first byte
 */
export async function sendOnce<Value, Known>(call: EvidenceCall<Value, Known>): Promise<Value> {
  const earlier = activityInfo().heartbeatDetails as Intent<Known> | undefined;
  const beats = createIntentBeats<Intent<Known>>(earlier);
  const [made] = await Promise.allSettled([sendOrAdopt(call, earlier, beats)]);
  // What is left must come after the last beat.
  await beats.stop();
  if (made.status === 'fulfilled') return made.value;
  beats.leave({ spent: spentOf(call.attempt) });
  throw made.reason;
}

async function sendOrAdopt<Value, Known>(
  call: EvidenceCall<Value, Known>,
  earlier: Intent<Known> | undefined,
  beats: IntentBeats<Intent<Known>>,
): Promise<Value> {
  if (call.attempt.attempt > 1 && earlier?.phase === 'sending') return adoptOrGiveUp(call, 'crash', earlier.known);
  // That this activity itself has not sent is known best here; otherwise others may have.
  const others = earlier?.phase === 'not_sent' ? undefined : await prepared(call, () => call.earlier?.());
  if (others?.was === 'accepted') return others.value;
  if (others?.was === 'perhaps_sent') return adoptOrGiveUp(call, 'others', others.known);
  return sendNow(call, beats);
}

async function sendNow<Value, Known>(
  call: EvidenceCall<Value, Known>,
  beats: IntentBeats<Intent<Known>>,
): Promise<Value> {
  const { attempt } = call;
  const known = await prepared(call, call.before);
  if (beats.isCancelled()) throw cancelledBefore(call.what);
  const askedAtMs = Date.now();
  if (callTimeMs() < shortestCallMs) throw tooLate(call.what);
  await beats.record({ phase: 'sending', known, spent: spentOf(attempt) }).catch((error: unknown) => {
    throw beats.isCancelled() ? cancelledBefore(call.what) : error;
  });
  const timeoutMs = callTimeMs();
  const isLate = timeoutMs < shortestCallMs || Date.now() - askedAtMs > slowestIntentMs;
  if (isLate) {
    await notSentAfterAll(call, beats, known);
    throw tooLate(call.what);
  }
  let value: Value;
  try {
    value = await attempt.call(() => call.send(Math.min(timeoutMs, call.longestMs ?? longestCallMs)));
  } catch (error) {
    if (effectOf(error) === 'unknown') return adoptOrGiveUp(call, 'lost_answer', known);
    await notSentAfterAll(call, beats, known);
    throw notSent(error, attempt);
  }
  await call.settled?.(known, value).catch(() => undefined);
  return value;
}

const spentOf = ({ calls, maybeSent }: Attempt): Spent => ({ calls: calls(), maybeSent });

/** What `make` gives; where it fails, nothing was sent. */
async function prepared<T>({ attempt }: { readonly attempt: Attempt }, make: () => Promise<T> | T): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw notSent(error, attempt);
  }
}

async function notSentAfterAll<Value, Known>(
  call: EvidenceCall<Value, Known>,
  beats: IntentBeats<Intent<Known>>,
  known: Known,
): Promise<void> {
  await call.settled?.(known, null).catch(() => undefined);
  // After a cancel nobody will make another attempt, and Temporal takes no beat.
  await beats.record({ phase: 'not_sent', spent: spentOf(call.attempt) }).catch((error: unknown) => {
    if (!beats.isCancelled()) throw error;
  });
}

/** How long a call may last that begins now, in ms. */
function callTimeMs(): number {
  const { currentAttemptScheduledTimestampMs, startToCloseTimeoutMs } = activityInfo();
  return currentAttemptScheduledTimestampMs + startToCloseTimeoutMs - Date.now() - marginMs;
}

const tooLate = (what: string) =>
  ApplicationFailure.retryable(`Too little time was left in this attempt to send ${what}`, 'no_time_left');

const cancelledBefore = (what: string) =>
  ApplicationFailure.nonRetryable(`A cancel came before ${what} was sent`, notSentCode);

/** The failure where the call certainly had no effect: another attempt may make it. */
function notSent(error: unknown, attempt: Attempt): unknown {
  const failure = describeFailure(error, attempt.calls());
  if (!failure) return error;
  if (retryOwner(failure.meaning, 'none') !== 'temporal') return finalFailure(failure);
  return ApplicationFailure.create({ message: failure.message, type: failure.code, details: [failure] });
}

const whatHappened = {
  crash: (what: string) => `An earlier attempt ended while it was sending ${what}`,
  others: (what: string) => `An earlier run may have sent ${what}`,
  lost_answer: (what: string) => `The answer to ${what} was lost`,
} as const;

async function adoptOrGiveUp<Value, Known>(
  call: EvidenceCall<Value, Known>,
  reason: keyof typeof whatHappened,
  known: Known | undefined,
): Promise<Value> {
  for (const delayMs of evidenceDelaysMs) {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const evidence = await call.look(known).catch(() => null);
    if (evidence === null) continue;
    if (known !== undefined) await call.settled?.(known, evidence).catch(() => undefined);
    return evidence;
  }
  const why = `${whatHappened[reason](call.what)}, and ${call.where} does not show it (${outcomeUnknownCode}).`;
  throw outcomeUnknown(why, { endpoint: call.endpoint, calls: call.attempt.calls() });
}
