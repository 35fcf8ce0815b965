/**
 * What an activity reports to a workflow about a failed call: the first detail of its `ApplicationFailure`, whose type is
 * the code. No dependencies: workflow code imports this file.
 */
import type { ErrorMeaning } from './error-codes.js';

/** The code of a call whose effect is unknown. */
export const outcomeUnknownCode = 'outcome_unknown';

/** The code of a call that was cancelled before its first byte. */
export const notSentCode = 'not_sent';

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
  /** What a caller does about the error; see `errorMeanings`. */
  readonly meaning: ErrorMeaning;
  /** `req_…` of the response, for support requests; null without one. */
  readonly requestId: string | null;
  /** Wait that the service requests, in ms; null if it requests none. */
  readonly retryAfterMs: number | null;
  /** `error.details` of the response; null without them. */
  readonly details: Readonly<Record<string, unknown>> | null;
  /** Calls that were made, those of earlier attempts included. */
  readonly calls: number;
  /** True if an earlier attempt of the same activity may have taken effect, whatever the result of this one. */
  readonly maybeSent?: boolean;
}

/** The fields of a failure that is not an answer of the service. */
export const unanswered = { endpoint: null, status: null, requestId: null, retryAfterMs: null, details: null } as const;

/** The result of an activity, with the number of calls to the service that it took. */
export interface Counted<T> {
  /** The result. */
  readonly value: T;
  /** Number of calls to the service, including failed attempts. */
  readonly calls: number;
}
