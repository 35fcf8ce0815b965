/**
 * Maps an error of the client to a Temporal failure. The only place that decides whether and when a call is retried.
 */
import { ApplicationFailure } from '@temporalio/activity';
import {
  ApiError,
  ConnectionError,
  ListIncompleteError,
  TimeoutError,
  UnexpectedResponseError,
} from '../../src/client/index.js';
import type { ErrorMeaning } from '../../src/contract/workflow-safe/error-codes.js';
import {
  longestUntoldPauseMs,
  outcomeUnknownCode,
  type ServiceFailure,
  unanswered,
} from '../../src/contract/workflow-safe/service-failure.js';
import { cut, payloadBytes } from '../../src/texts/length.js';

/** What is known about the effect of a failed call. */
export type Effect =
  /** The call certainly had no effect: nothing was sent, or the service itself refused it. */
  | 'none'
  /** The call may have taken effect, or may still do so. */
  | 'unknown';

/** Longest error message for a workflow, in characters. Details larger than `maxDetailsBytes` are omitted. */
const maxMessageLength = 2_000;
const maxDetailsBytes = 4_000;

/**
 * Whether the call that failed with `error` may have had an effect. For errors not from the client, this is unknown.
 */
export function effectOf(error: unknown): Effect {
  if (error instanceof ApiError) {
    const refused = error.typed && error.status >= 400 && error.status < 500;
    // A request that took too long may have arrived.
    return refused && error.status !== 408 && error.code !== 'idempotency_in_progress' ? 'none' : 'unknown';
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) return error.requestSent ? 'unknown' : 'none';
  return 'unknown';
}

/** The description of `error` for a workflow; undefined for errors not from the client. */
export function describeFailure(error: unknown): ServiceFailure | undefined {
  if (error instanceof ApiError) {
    const { status, meaning, requestId } = error;
    const retryAfterMs = error.retryAfterMs && Math.min(error.retryAfterMs, longestUntoldPauseMs);
    return { ...callOf(error), status, meaning, requestId, retryAfterMs, details: short(error.details) };
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return { ...callOf(error), meaning: 'unavailable' };
  }
  if (error instanceof UnexpectedResponseError) {
    return { ...callOf(error), status: error.status, meaning: error.meaning };
  }
  return error instanceof ListIncompleteError ? { ...callOf(error), meaning: 'permanent' } : undefined;
}

/** The message may come from any source and have any length. */
function callOf({ code, endpoint, message }: Error & Pick<ServiceFailure, 'code' | 'endpoint'>) {
  return { ...unanswered, code, endpoint, message: cut(message, maxMessageLength) };
}

function short(details: ServiceFailure['details']): ServiceFailure['details'] {
  return payloadBytes(details) > maxDetailsBytes ? null : details;
}

/**
 * Who retries a call, by its meaning:
 * - `temporal`: the retry policy of the activity, if the effect of the call is unknown. It continues after a cancel.
 * - `workflow`: the workflow, for refusals that may be temporary. Its wait is visible in Temporal's UI, and ends after
 *   a cancel.
 * - `nobody`: the failure is final.
 */
export function retryOwner(meaning: ErrorMeaning, effect: Effect): 'temporal' | 'workflow' | 'nobody' {
  if (meaning === 'permanent') return 'nobody';
  if (meaning === 'unavailable') return 'temporal';
  if (meaning === 'unreadable') return 'workflow';
  return effect === 'unknown' ? 'temporal' : 'workflow';
}

/** An activity reads an unreadable answer as often. Then it does without it, or the workflow decides. */
export const triesToRead = 3;

/** True for an unreadable answer that the activity has read often enough. */
export function staysUnreadable(error: unknown, { attempt }: { readonly attempt: number }): boolean {
  return error instanceof UnexpectedResponseError && error.meaning === 'unreadable' && attempt >= triesToRead;
}

/**
 * The failure of a call that may be repeated: all retry classes except `evidence` and `once`.
 * @param spent.attempt number of this attempt. Default: the last one that reads an unreadable answer
 * @param spent.pauseMs how long Temporal waits before the next attempt, unless the service asks for another time
 * @param spent.leastPauseMs how long Temporal waits at least, in ms. Default: 0
 */
export function repeatableFailure(
  error: unknown,
  spent: {
    readonly attempt?: number;
    readonly maybeSent?: boolean;
    readonly pauseMs: number;
    readonly leastPauseMs?: number;
  },
): unknown {
  const { attempt = triesToRead, maybeSent = false, pauseMs, leastPauseMs = 0 } = spent;
  const described = describeFailure(error);
  if (!described) return error;
  const isRead = described.meaning === 'unreadable';
  // Whoever answers so may have done what was asked.
  const failure = { ...described, maybeSent: maybeSent || isRead };
  const again = isRead ? attempt < triesToRead : retryOwner(failure.meaning, effectOf(error)) === 'temporal';
  const delayMs = Math.max(leastPauseMs, failure.retryAfterMs ?? pauseMs);
  return ApplicationFailure.create({
    message: failure.message,
    type: failure.code,
    nonRetryable: !again,
    nextRetryDelay: again ? spread(delayMs) : undefined,
    details: [failure],
  });
}

/** After an outage, thousands of workflows would otherwise repeat their calls in step (specification, "Errors"). */
export function spread(pauseMs: number): number {
  return Math.round(pauseMs * (1 + Math.random() / 4));
}

/**
 * The failure of a call that must not be repeated automatically, even if its meaning would allow that. The workflow
 * decides.
 */
export function finalFailure(failure: ServiceFailure): ApplicationFailure {
  return ApplicationFailure.nonRetryable(failure.message, failure.code, failure);
}

/** The failure of a call whose outcome is unknown; `why` describes the evidence. */
export function outcomeUnknown(why: string, { endpoint }: { readonly endpoint: string }): Error {
  return finalFailure({ ...unanswered, code: outcomeUnknownCode, message: why, meaning: 'permanent', endpoint });
}
