/**
 * Retry class `secret`: rotations. The service may execute a call whose answer was lost after the next one. The secret
 * of the next one would then be invalid, and nothing would show it. So the next one waits until that cannot happen.
 */
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { ApiError } from '../../src/client/index.js';
import { lateCallMs } from '../../src/contract/workflow-safe/limits.js';
import type { Attempt, Spent } from './attempt.js';
import { effectOf, repeatableFailure } from './classify.js';

export interface RotateOptions {
  /** How long a call without an answer may still take effect, in ms. Default: 30 000, the time limit of a call. */
  readonly lateForMs?: number | undefined;
}

/**
 * Makes a call that replaces a secret. Safe to repeat.
 * @throws ApplicationFailure that Temporal retries after `lateForMs` if the secret may have been replaced without an
 *   answer; otherwise the client's error
 */
export async function rotate<T>(
  attempt: Attempt,
  make: (signal: AbortSignal) => Promise<T>,
  { lateForMs = lateCallMs }: RotateOptions = {},
): Promise<T> {
  if (attempt.followsCrash) {
    const message = 'An earlier attempt ended without a result, and its rotation may still take effect';
    throw ApplicationFailure.create({ message, type: 'rotation_may_be_late', nextRetryDelay: lateForMs });
  }
  try {
    return await attempt.call(make);
  } catch (error) {
    if (effectOf(error) === 'none') throw error;
    const { maybeSent, pauseMs } = attempt;
    throw repeatableFailure(error, { maybeSent, pauseMs, leastPauseMs: lateForMs });
  }
}

/** What the attempts of an activity that adopts an object tell each other, beside the intent of `sendOnce`. */
interface Rotating {
  /** When a rotation was last sent, in ms since the epoch. */
  readonly rotatedAtMs?: number;
}

/**
 * Replaces the secret of an object that an activity of the class `evidence` has adopted. Such an activity records its
 * intent, so a dead attempt does not show whether it had begun to rotate: that is recorded too.
 * @param options.known what `before` of the activity has read; a later attempt looks for the object with it
 * @throws as `rotate`
 */
export async function rotateAdopted<T>(
  attempt: Attempt,
  make: (signal: AbortSignal) => Promise<T>,
  { known, ...options }: RotateOptions & { readonly known: unknown },
): Promise<T> {
  const { heartbeatDetails } = activityInfo();
  const { rotatedAtMs = Number.NEGATIVE_INFINITY } = (heartbeatDetails ?? {}) as Rotating;
  const leftMs = rotatedAtMs + (options.lateForMs ?? lateCallMs) - Date.now();
  if (leftMs > 0) {
    const message = 'The rotation of an earlier attempt may still take effect';
    throw ApplicationFailure.create({ message, type: 'rotation_may_be_late', nextRetryDelay: leftMs });
  }
  const spent: Spent = { calls: attempt.calls() + 1, maybeSent: true };
  const details = { phase: 'sending', known, spent, rotatedAtMs: Date.now() };
  await recordDetails(details);
  return rotate(attempt, make, options);
}

/** Records what the next attempt finds, after the end of `sendOnce`. Resolves once Temporal has it. */
export async function recordDetails(details: object): Promise<void> {
  // Also reported to the worker, which sends its latest details when the attempt fails.
  heartbeat(details);
  await Context.current().client.activity.heartbeat(activityInfo().taskToken, details);
}

/**
 * Makes a call that corrects an object whose secret was lost.
 * @returns undefined if the service refuses permanently
 * @throws ApplicationFailure that Temporal retries, after any other failure
 */
export async function unlessRefused<T>(make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    if (error instanceof ApiError && error.typed && error.meaning === 'permanent') return undefined;
    const { message } = error instanceof Error ? error : { message: 'no answer' };
    throw ApplicationFailure.retryable(`The secret of the new object could not be replaced: ${message}`);
  }
}
