/**
 * What an activity tells a workflow about a failed call: the first detail of its `ApplicationFailure`, whose type is
 * the code. No dependencies: workflow code imports this file.
 */
import type { ErrorMeaning } from './error-codes.js';

/** The code of a call of which nobody can know whether it took effect. */
export const outcomeUnknownCode = 'outcome_unknown';

/** The code of a call that was cancelled before its first byte. */
export const notSentCode = 'not_sent';

export interface ServiceFailure {
  readonly code: string;
  readonly message: string;
  /** The endpoint that was called, or null. */
  readonly endpoint: string | null;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  readonly meaning: ErrorMeaning;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  /** Calls that were made, those of earlier attempts included. */
  readonly calls: number;
  /** True where an earlier attempt of the same activity may have taken effect, whatever this one was told. */
  readonly maybeSent?: boolean;
}

/** The result of an activity, with the number of calls to the service that it took. */
export interface Counted<T> {
  readonly value: T;
  readonly calls: number;
}
