/** Turns an error of the client into a Temporal failure. The one place that says *again, and when?* */
import { ApplicationFailure } from '@temporalio/activity';
import { ApiError, ConnectionError, TimeoutError, UnexpectedResponseError } from '../../src/client/index.js';
import type { ErrorMeaning } from '../../src/contract/error-codes.js';
import { outcomeUnknownCode, type ServiceFailure } from '../../src/contract/service-failure.js';
import { cut, payloadBytes } from '../../src/contract/texts.js';

/** What a failed call says about the call's effect. */
export type Effect =
  /** It certainly did not happen: nothing was sent, or the service itself refused it. */
  | 'none'
  /** It may have happened, or may still happen. */
  | 'unknown';

/** What a workflow is told of an error, in characters; details that take more bytes than this are left out. */
const maxMessageLength = 2_000;
const maxDetailsBytes = 4_000;

/** A page of a proxy may ask for any pause; a service that is back is not left alone for longer than this. */
const longestPauseMs = 300_000;

/** Whether the call that ended with `error` can have had an effect. Errors that are not the client's are unknown. */
export function effectOf(error: unknown): Effect {
  if (error instanceof ApiError) {
    const refused = error.typed && error.status >= 400 && error.status < 500;
    return refused && error.code !== 'idempotency_in_progress' ? 'none' : 'unknown';
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) return error.requestSent ? 'unknown' : 'none';
  return 'unknown';
}

/** What a workflow is told about `error`; undefined for errors that are not the client's. */
export function describeFailure(error: unknown, calls: number): ServiceFailure | undefined {
  if (error instanceof ApiError) {
    const { code, endpoint, status, meaning, requestId, retryAfterMs, details } = error;
    return {
      ...bounded(error),
      code,
      endpoint,
      status,
      meaning,
      requestId,
      retryAfterMs,
      details: short(details),
      calls,
    };
  }
  const unanswered = { status: null, requestId: null, retryAfterMs: null, details: null, calls };
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    const { code, endpoint } = error;
    return { ...unanswered, ...bounded(error), code, endpoint, meaning: 'unavailable' };
  }
  if (error instanceof UnexpectedResponseError) {
    const { code, endpoint, status } = error;
    return { ...unanswered, ...bounded(error), code, endpoint, status, meaning: 'unavailable' };
  }
  return undefined;
}

/** Anybody may have written the message, at any length. */
function bounded({ message }: Error): { readonly message: string } {
  return { message: cut(message, maxMessageLength) };
}

function short(details: ServiceFailure['details']): ServiceFailure['details'] {
  return payloadBytes(details) > maxDetailsBytes ? null : details;
}

/**
 * Who repeats, by meaning:
 * - `temporal`: the retry policy of the activity. So it is for all that is ambiguous, and it goes on through a cancel.
 * - `workflow`: the workflow, which shows what it waits for and stops when it is cancelled. So it is for what the
 *   service refused and may accept later.
 * - `nobody`.
 */
export function retryOwner(meaning: ErrorMeaning, effect: Effect): 'temporal' | 'workflow' | 'nobody' {
  if (meaning === 'permanent') return 'nobody';
  if (meaning === 'unavailable') return 'temporal';
  return effect === 'unknown' ? 'temporal' : 'workflow';
}

/** The failure for an error of a call that may be repeated: all retry classes but `evidence` and `once`. */
export function repeatableFailure(
  error: unknown,
  { calls, maybeSent = false }: { readonly calls: number; readonly maybeSent?: boolean },
): unknown {
  const described = describeFailure(error, calls);
  if (!described) return error;
  const failure = { ...described, maybeSent };
  const again = retryOwner(failure.meaning, effectOf(error)) === 'temporal';
  return ApplicationFailure.create({
    message: failure.message,
    type: failure.code,
    nonRetryable: !again,
    nextRetryDelay: again && failure.retryAfterMs !== null ? Math.min(failure.retryAfterMs, longestPauseMs) : undefined,
    details: [failure],
  });
}

/** The failure for a call that must not be repeated, whatever its meaning: the workflow decides. */
export function finalFailure(failure: ServiceFailure): ApplicationFailure {
  return ApplicationFailure.create({
    message: failure.message,
    type: failure.code,
    nonRetryable: true,
    details: [failure],
  });
}

/** Nobody can know whether the call took effect; `why` says what was seen. */
export function outcomeUnknown(why: string, options: { readonly endpoint: string; readonly calls: number }): Error {
  return finalFailure({
    code: outcomeUnknownCode,
    message: why,
    endpoint: options.endpoint,
    status: null,
    meaning: 'permanent',
    requestId: null,
    retryAfterMs: null,
    details: null,
    calls: options.calls,
  });
}
