/** How long a command waits before it repeats a call that failed. */
import { ApiError } from '../../client/index.js';

export interface PauseLimits {
  /** The longest pause after the first failure, in ms. */
  readonly firstMs: number;
  /** The longest pause, in ms. */
  readonly longestMs: number;
}

/**
 * A jittered pause, in ms, that doubles with each failure.
 * @param failures before this one
 */
export function backOffMs(failures: number, { firstMs, longestMs }: PauseLimits): number {
  return Math.min(longestMs, firstMs * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** The pause that the service requests, in ms; 0 if it requests none. */
export function requestedPauseMs(error: unknown): number {
  return (error instanceof ApiError && error.retryAfterMs) || 0;
}
