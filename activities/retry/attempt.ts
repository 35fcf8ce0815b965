/** Runs the calls of one activity attempt: counts them, beats while they last, and turns errors into failures. */
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import type { Counted } from '../../src/contract/service-failure.js';
import { maxActivityResultBytes, payloadBytes } from '../../src/contract/texts.js';
import { effectOf, finalFailure, repeatableFailure } from './classify.js';

/** A call that takes longer than this beats, so that a dead worker is noticed long before a slow service is. */
const heartbeatEveryMs = 3_000;

/** What the attempts of an activity have done until now; handed on as heartbeat details. */
export interface Spent {
  readonly calls: number;
  /** True where one of them may have taken effect. */
  readonly maybeSent: boolean;
}

export interface Attempt {
  readonly attempt: number;
  /** Aborted when the activity is cancelled or its worker shuts down. */
  readonly signal: AbortSignal;
  /** Counts a call and makes it. */
  call<T>(make: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Calls so far, those of earlier attempts included as far as these could say. */
  readonly calls: () => number;
  /** True where an earlier attempt may have taken effect. */
  readonly maybeSent: boolean;
}

/** What an attempt looks like to code that makes calls; tests may make their own. */
export function createAttempt(): Attempt {
  const signal = Context.current().cancellationSignal;
  const { attempt } = activityInfo();
  const before = spentBefore();
  let { calls } = before;
  return {
    attempt,
    maybeSent: before.maybeSent,
    signal,
    call: (make) => {
      calls += 1;
      return make(signal);
    },
    calls: () => calls,
  };
}

/** A local activity has no heartbeat and makes one call an attempt; of a worker that was killed nothing is known. */
function spentBefore(): Spent {
  const { attempt, isLocal, heartbeatDetails } = activityInfo();
  if (isLocal) return { calls: attempt - 1, maybeSent: false };
  const { spent } = (heartbeatDetails ?? {}) as { readonly spent?: Spent };
  return spent ?? { calls: 0, maybeSent: attempt > 1 };
}

/**
 * Runs `body` as an attempt of a repeatable activity.
 * @throws ApplicationFailure whose type is the code, whose first detail is a `ServiceFailure`
 */
export async function withCallCount<T>(body: (attempt: Attempt) => Promise<T>): Promise<Counted<T>> {
  const attempt = createAttempt();
  return withHeartbeat(async () => {
    try {
      return { value: fitting(await body(attempt), attempt.calls()), calls: attempt.calls() };
    } catch (error) {
      const calls = attempt.calls();
      const { maybeSent } = attempt;
      // The next attempt goes on counting.
      const spent: Spent = { calls, maybeSent: maybeSent || effectOf(error) === 'unknown' };
      if (!activityInfo().isLocal) heartbeat({ spent });
      throw repeatableFailure(error, { calls, maybeSent });
    }
  });
}

/**
 * What an attempt returns: of what is too long Temporal says less.
 * @throws ApplicationFailure `answer_too_large`
 */
export function fitting<T>(value: T, calls: number): T {
  const bytes = payloadBytes(value);
  if (bytes <= maxActivityResultBytes) return value;
  const message = `The answer takes ${bytes} bytes, a workflow can take ${maxActivityResultBytes}. Ask for less, or for a download into the result store.`;
  const unsaid = { endpoint: null, status: null, requestId: null, retryAfterMs: null, details: null };
  throw finalFailure({ ...unsaid, code: 'answer_too_large', message, meaning: 'permanent', calls });
}

/** Beats while `body` runs, with what `details` returns. Local activities have no heartbeat. */
export async function withHeartbeat<T>(body: () => Promise<T>, details: () => unknown = () => undefined): Promise<T> {
  if (activityInfo().isLocal) return body();
  const timer = setInterval(() => heartbeat(details()), heartbeatEveryMs);
  try {
    return await body();
  } finally {
    clearInterval(timer);
  }
}
