/**
 * What an activity reports to a workflow about a failed call. It is the first detail of an `ApplicationFailure` whose
 * type is the error code. No dependencies: workflow code imports this file.
 */
import type { ErrorMeaning } from './error-codes.js';

/** The code of a call whose effect is unknown. */
export const outcomeUnknownCode = 'outcome_unknown';

/** The code of a call that was cancelled before its first byte. */
export const notSentCode = 'not_sent';

/**
 * Longest `Retry-After` that is obeyed where no person is told of the pause, in ms: the service may be available long
 * before.
 */
export const longestUntoldPauseMs = 300_000;

/** A failed call to the service. */
export interface ServiceFailure {
  /** Error code of the service, or of sandflow. */
  readonly code: string;
  /** What is wrong and how to fix it; holds no secret. */
  readonly message: string;
  /** The endpoint that was called, or null. */
  readonly endpoint: string | null;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** How a caller should react to the error; see `errorMeanings`. */
  readonly meaning: ErrorMeaning;
  /** The request id (`req_…`) of the response, for support requests; null if there is none. */
  readonly requestId: string | null;
  /** How long the service asks the caller to wait, in ms, at most `longestUntoldPauseMs`; null if it did not ask. */
  readonly retryAfterMs: number | null;
  /** `error.details` of the response; null without them. */
  readonly details: Readonly<Record<string, unknown>> | null;
  /**
   * True if an earlier attempt of the same activity may have taken effect. Independent of the result of this attempt.
   */
  readonly maybeSent?: boolean;
}

/** Fields for a failure without an answer of the service. */
export const unanswered = { endpoint: null, status: null, requestId: null, retryAfterMs: null, details: null } as const;
