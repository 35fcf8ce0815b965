/**
 * Retry class `evidence`: calls without an idempotency key that must run at most once (trap S3). The activity records
 * its intent in Temporal, and waits for the confirmation, before it sends the first byte:
 *
 *     (nothing) ──intent──► sending ──accepted──► done
 *                              └──certainly not──► not_sent
 *
 * A later attempt sends if it finds no intent, or `not_sent`. If it finds `sending`, it searches for evidence and never
 * sends. An attempt that has timed out can no longer record its intent, and therefore cannot make the call.
 *
 * Heartbeats during the call show Temporal that the worker still waits. A cancel does not abort the call: the workflow
 * must learn its outcome.
 */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { EndpointName } from '../../src/contract/endpoints/endpoints.js';
import { notSentCode, outcomeUnknownCode } from '../../src/contract/workflow-safe/service-failure.js';
import type { Attempt, Spent } from './attempt.js';
import { describeFailure, effectOf, finalFailure, outcomeUnknown, retryOwner, spread } from './classify.js';
import { createIntentBeats, type IntentBeats } from './heartbeat.js';

/** What other activities may have done before, according to their records. */
export type Earlier<Value, Known> =
  | { readonly was: 'not_sent' }
  | { readonly was: 'accepted'; readonly value: Value }
  /**
   * The outcome is unknown: this activity only searches for evidence, and never sends. `known` is undefined if no
   * record exists.
   */
  | { readonly was: 'perhaps_sent'; readonly known: Known | undefined };

export interface EvidenceCall<Value, Known> {
  readonly endpoint: EndpointName;
  readonly attempt: Attempt;
  /** What the call sends, such as `the prompt`; used in messages. */
  readonly what: string;
  /** Why no evidence was found, such as `the history of bx_… does not show it`; used in messages. */
  readonly noEvidence: string;
  /** Called first: reports what another activity may have sent. Default: nothing was sent. */
  readonly earlier?: () => Promise<Earlier<Value, Known>>;
  /**
   * Reads the state before the call, which `look` needs later. The result is part of the intent, so it must be small
   * and contain no secret. If `before` fails, nothing is sent, and Temporal retries the activity.
   */
  readonly before: () => Promise<Known>;
  /**
   * Stores the intent for other runs, but replaces an older one only when `recorded` has resolved: Temporal then has the
   * intent. Nothing is sent until both are done. Must end within `withinMs`, in ms: `not_sent` must still reach Temporal.
   */
  readonly store?: (
    known: Known,
    options: { readonly recorded: Promise<void>; readonly withinMs: number },
  ) => Promise<void>;
  /** Time limit of the call, in ms. It is shorter if the attempt has less time left. Default: 30 s. */
  readonly longestMs?: number | undefined;
  /** Makes the call. Has no abort signal, because after an abort the outcome would be unknown. */
  readonly send: (timeoutMs: number) => Promise<Value>;
  /** Returns evidence that the call took effect, or null. `known` is undefined if no record exists. */
  readonly look: (known: Known | undefined) => Promise<Value | null>;
  /** Records the outcome of the call. Best effort: must end within some seconds. */
  readonly settled?: (known: Known, value: Value | null) => Promise<void>;
}

interface Intent<Known> {
  /** Undefined if no attempt got this far. */
  readonly phase?: 'sending' | 'not_sent';
  readonly known?: Known;
  /** Cost of the attempts so far; `currentAttempt` continues the count. */
  readonly spent?: Spent;
}

/** The call is given up this long before the end of the attempt, in ms. */
const marginMs = 5_000;
const longestCallMs = 30_000;
/** An attempt that has less time than this left, in ms, does not make the call. */
const shortestCallMs = 5_000;
/** An attempt of which Temporal has heard nothing for this long, in ms, may have timed out there. */
const longestSilenceMs = 5_000;
const evidenceDelaysMs = [0, 500, 1_500, 3_000];

/**
 * Makes the call at most once.
 * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the call took effect; `not_sent` if a cancel
 *   arrived before the first byte
 */
export async function sendOnce<Value, Known>(call: EvidenceCall<Value, Known>): Promise<Value> {
  const earlier = activityInfo().heartbeatDetails as Intent<Known> | undefined;
  const beats = createIntentBeats<Intent<Known>>(earlier);
  const [made] = await Promise.allSettled([sendOrAdopt(call, earlier, beats)]);
  // A later heartbeat would overwrite the details that `leave` records.
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
  // An activity records `not_sent` only after it has checked the earlier activities, so it need not check them again.
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
  // If this worker shuts down, an attempt on another one makes the call.
  attempt.signal.throwIfAborted();
  if (callTimeMs() < shortestCallMs) throw tooLate(call.what);
  try {
    const record = async () => {
      await beats.record({ phase: 'sending', known, spent: spentOf(attempt) });
      // An attempt that has timed out must not replace what a later one has stored.
      requireTime(call, beats);
    };
    const recorded = record();
    const steps = [recorded, call.store?.(known, { recorded, withinMs: callTimeMs() - shortestCallMs })];
    // If the store fails first, this intent must not reach Temporal after the next one.
    await Promise.allSettled(steps);
    await Promise.all(steps);
    requireTime(call, beats);
  } catch (error) {
    await notSentAfterAll(call, beats, known);
    throw beats.isCancelled() ? cancelledBefore(call.what) : notSent(error, attempt);
  }
  const timeoutMs = callTimeMs();
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

/** Returns the result of `make`. If `make` fails, nothing was sent. */
async function prepared<T>({ attempt }: { readonly attempt: Attempt }, make: () => Promise<T> | T): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw notSent(error, attempt);
  }
}

/** If Temporal does not accept this, the failure of the attempt still says so; see `leave`. */
async function notSentAfterAll<Value, Known>(
  call: EvidenceCall<Value, Known>,
  beats: IntentBeats<Intent<Known>>,
  known: Known,
): Promise<void> {
  // After a cancel there is no further attempt, and Temporal accepts no heartbeat.
  await beats.record({ phase: 'not_sent', spent: spentOf(call.attempt) }).catch((error: unknown) => {
    if (!beats.isCancelled()) throw error;
  });
  await call.settled?.(known, null).catch(() => undefined);
}

/** @throws ApplicationFailure `no_time_left` if the attempt has too little time for the call, or may have timed out */
function requireTime<Value, Known>({ what }: EvidenceCall<Value, Known>, beats: IntentBeats<Intent<Known>>): void {
  if (callTimeMs() < shortestCallMs || beats.silentMs() > longestSilenceMs) throw tooLate(what);
}

/** Time limit of a call that starts now, in ms. */
function callTimeMs(): number {
  const { currentAttemptScheduledTimestampMs, startToCloseTimeoutMs } = activityInfo();
  return currentAttemptScheduledTimestampMs + startToCloseTimeoutMs - Date.now() - marginMs;
}

const tooLate = (what: string) =>
  ApplicationFailure.retryable(`Too little time was left in this attempt to send ${what}`, 'no_time_left');

const cancelledBefore = (what: string) =>
  ApplicationFailure.nonRetryable(`A cancel came before ${what} was sent`, notSentCode);

/** The failure of a call that certainly had no effect: another attempt may make the call. */
function notSent(error: unknown, attempt: Attempt): unknown {
  const failure = describeFailure(error);
  if (!failure) return error;
  if (retryOwner(failure.meaning, 'none') !== 'temporal') return finalFailure(failure);
  const { message, code: type } = failure;
  return ApplicationFailure.create({ message, type, nextRetryDelay: spread(attempt.pauseMs), details: [failure] });
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
  const why = `${whatHappened[reason](call.what)}, and ${call.noEvidence} (${outcomeUnknownCode}).`;
  throw outcomeUnknown(why, { endpoint: call.endpoint });
}
