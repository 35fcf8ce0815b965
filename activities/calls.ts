/** Runs the calls of one activity attempt: counts them, beats while they last, and turns errors into failures. */
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import type { Counted } from '../src/contract/service-failure.js';
import { repeatableFailure } from './failures.js';

/** A call that takes longer than this beats, so that a dead worker is noticed long before a slow service is. */
const heartbeatEveryMs = 3_000;

export interface Attempt {
  readonly attempt: number;
  /** Aborted when the activity is cancelled or its worker shuts down. */
  readonly signal: AbortSignal;
  /** Counts a call and makes it. */
  call<T>(make: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Calls so far. */
  readonly calls: () => number;
}

/** What an attempt looks like to code that makes calls; tests may make their own. */
export function createAttempt(): Attempt {
  const signal = Context.current().cancellationSignal;
  let calls = 0;
  return {
    attempt: activityInfo().attempt,
    signal,
    call: (make) => {
      calls += 1;
      return make(signal);
    },
    calls: () => calls,
  };
}

/**
 * Runs `body` as an attempt of a repeatable activity.
 * @throws ApplicationFailure whose type is the code, whose first detail is a `ServiceFailure`
 */
export async function counted<T>(body: (attempt: Attempt) => Promise<T>): Promise<Counted<T>> {
  const attempt = createAttempt();
  return beating(async () => {
    try {
      return { value: await body(attempt), calls: attempt.calls() };
    } catch (error) {
      throw repeatableFailure(error, { attempt: attempt.attempt, calls: attempt.calls() });
    }
  });
}

/** Beats while `body` runs, with what `details` returns. Local activities have no heartbeat. */
export async function beating<T>(body: () => Promise<T>, details: () => unknown = () => undefined): Promise<T> {
  if (activityInfo().isLocal) return body();
  const timer = setInterval(() => heartbeat(details()), heartbeatEveryMs);
  try {
    return await body();
  } finally {
    clearInterval(timer);
  }
}
