/** Runs the calls of one activity attempt: counts them, sends heartbeats during them, and maps errors to failures. */
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import type { RetryPolicy } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { unanswered } from '../../src/contract/workflow-safe/service-failure.js';
import { untilAborted } from '../../src/os/aborted.js';
import { maxActivityResultBytes } from '../../src/protocol/limits.js';
import { payloadBytes } from '../../src/texts/length.js';
import { effectOf, finalFailure, repeatableFailure } from './classify.js';

/** One heartbeat may be late. Each is paid for: the SDK sends at most one in 80 % of the time limit. */
export const shareOfHeartbeatTimeout = 3 / 8;

/** The calls that the attempts of an activity have made so far, passed on as heartbeat details. */
export interface Spent {
  readonly calls: number;
  /** True if one of these calls may have taken effect. */
  readonly maybeSent: boolean;
}

export interface Attempt {
  readonly attempt: number;
  /** Aborted when the activity is cancelled or its worker shuts down. */
  readonly signal: AbortSignal;
  /** Makes and counts a call. */
  call<T>(make: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Number of calls so far, including the calls that earlier attempts reported. */
  readonly calls: () => number;
  /** True if an earlier attempt may have taken effect. */
  readonly maybeSent: boolean;
  /** True if the previous attempt ended without a result, for example because its worker was killed. */
  readonly followsCrash: boolean;
  /** How long the retry policy waits after this attempt, in ms. */
  readonly pauseMs: number;
}

/** Node fires a longer one at once. No write lasts as long. */
const longestTimerMs = 2 ** 31 - 1;

const attempts = new WeakMap<Context, Attempt>();
/** When the attempts began, in ms since the epoch. */
const beginnings = new WeakMap<Context, number>();

/** The attempt of the current activity. All calls of the activity count in it, also those of an activity inside another. */
export function currentAttempt(): Attempt {
  const context = Context.current();
  const attempt = attempts.get(context) ?? createAttempt();
  attempts.set(context, attempt);
  return attempt;
}

/** The calls of the current activity and its earlier attempts; 0 for an activity that does not call the service. */
export function callsOfActivity(): number {
  return attempts.get(Context.current())?.calls() ?? 0;
}

/**
 * Calls `use` with a signal that aborts when the time of this attempt is over, or as soon as this worker learns that Temporal
 * does not know it any more: after a missed heartbeat, another attempt may run before. A cancel does not abort it: nobody
 * writes after a cancelled attempt, and what it did must be known.
 * The time counts from the first `currentAttempt`, or from here. Then it throws, whether or not `use` has ended.
 * @param options.withinMs time limit of `use`, in ms. Default: the time of the attempt
 */
export async function whileAttemptLives<T>(
  use: (signal: AbortSignal) => Promise<T>,
  { withinMs = Number.POSITIVE_INFINITY }: { readonly withinMs?: number } = {},
): Promise<T> {
  const context = Context.current();
  const { startToCloseTimeoutMs } = activityInfo();
  const over = new AbortController();
  const end = () =>
    over.abort(new Error('The time of this attempt is over: another one may have stored something newer.'));
  const endIfGone = () => {
    const { notFound, timedOut } = context.cancellationDetails ?? {};
    if (notFound || timedOut) end();
  };
  if (context.cancellationSignal.aborted) endIfGone();
  context.cancellationSignal.addEventListener('abort', endIfGone);
  const attemptMs = startToCloseTimeoutMs > 0 ? startToCloseTimeoutMs : Number.POSITIVE_INFINITY;
  const leftMs = (beginnings.get(context) ?? Date.now()) + attemptMs - Date.now();
  const timer = setTimeout(end, Math.min(leftMs, withinMs, longestTimerMs));
  try {
    return await untilAborted(over.signal, use);
  } finally {
    clearTimeout(timer);
    context.cancellationSignal.removeEventListener('abort', endIfGone);
  }
}

function createAttempt(): Attempt {
  beginnings.set(Context.current(), Date.now());
  const signal = Context.current().cancellationSignal;
  const { attempt } = activityInfo();
  const before = spentBefore();
  let { calls } = before;
  return {
    attempt,
    maybeSent: before.maybeSent,
    followsCrash: before.isUnknown === true,
    pauseMs: pauseAfter(attempt, activityInfo().retryPolicy),
    signal,
    call: (make) => {
      calls += 1;
      return make(signal);
    },
    calls: () => calls,
  };
}

/** How long Temporal would wait after an attempt, in ms. An old server does not tell the policy: then its defaults. */
export function pauseAfter(attempt: number, policy: RetryPolicy = {}): number {
  const { initialInterval = 1_000, backoffCoefficient = 2, maximumInterval } = policy;
  const firstMs = msToNumber(initialInterval);
  const longestMs = maximumInterval === undefined ? firstMs * 100 : msToNumber(maximumInterval);
  return Math.min(longestMs, firstMs * backoffCoefficient ** (attempt - 1));
}

/**
 * The calls that earlier attempts have made. A local activity has no heartbeat and makes one call per attempt. If a
 * worker was killed, the calls of its attempt are unknown.
 */
function spentBefore(): Spent & { readonly isUnknown?: boolean } {
  const { attempt, isLocal, heartbeatDetails } = activityInfo();
  if (isLocal) return { calls: attempt - 1, maybeSent: false };
  const { spent } = (heartbeatDetails ?? {}) as { readonly spent?: Spent };
  return spent ?? { calls: 0, maybeSent: attempt > 1, isUnknown: attempt > 1 };
}

/**
 * Runs `body` as an attempt of a repeatable activity.
 * @throws ApplicationFailure with the error code as its type and a `ServiceFailure` as its first detail
 */
export async function repeatable<T>(body: (attempt: Attempt) => Promise<T>): Promise<T> {
  const attempt = currentAttempt();
  return withHeartbeat(async () => {
    try {
      return fitting(await body(attempt));
    } catch (error) {
      const { maybeSent } = attempt;
      // The next attempt continues the count.
      const spent: Spent = { calls: attempt.calls(), maybeSent: maybeSent || effectOf(error) === 'unknown' };
      if (!activityInfo().isLocal) heartbeat({ spent });
      throw repeatableFailure(error, { attempt: attempt.attempt, maybeSent, pauseMs: attempt.pauseMs });
    }
  });
}

/**
 * Checks the size of a result, because Temporal's own error for a large result is less clear.
 * @throws ApplicationFailure `answer_too_large`
 */
export function fitting<T>(value: T): T {
  const bytes = payloadBytes(value);
  if (bytes <= maxActivityResultBytes) return value;
  const message = `The answer has ${bytes} bytes, but a workflow can receive at most ${maxActivityResultBytes}. Request less, or download it into the result store.`;
  throw finalFailure({ ...unanswered, code: 'answer_too_large', message, meaning: 'permanent' });
}

export interface YoungFollowOptions {
  /**
   * How long an activity follows a prompt or a workflow before one with rare heartbeats takes over, in ms. Default:
   * 180 000.
   */
  readonly youngFollowMs?: number;
}

export const defaultYoungMs = 180_000;

/** How long this activity still counts as young, in ms, over all its attempts. */
export function youngForMs({ youngFollowMs = defaultYoungMs }: YoungFollowOptions): number {
  return Math.max(0, activityInfo().scheduledTimestampMs + youngFollowMs - Date.now());
}

/** Sends heartbeats with the result of `details` while `body` runs. Local activities have no heartbeat. */
export async function withHeartbeat<T>(body: () => Promise<T>, details: () => unknown = () => undefined): Promise<T> {
  const { isLocal, heartbeatTimeoutMs } = activityInfo();
  if (isLocal) return body();
  // Zero without one.
  const everyMs = (heartbeatTimeoutMs || 10_000) * shareOfHeartbeatTimeout;
  const timer = setInterval(() => heartbeat(details()), everyMs);
  try {
    return await body();
  } finally {
    clearInterval(timer);
  }
}
