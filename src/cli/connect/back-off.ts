/** How long a command waits before it repeats a call that failed. */
import { ApiError } from '../../client/index.js';

/**
 * A jittered pause, in ms, that doubles with each failure.
 * @param failures before this one
 * @param limits the longest pause after the first failure, and after any, in ms
 */
export function backOffMs(failures: number, limits: { readonly firstMs: number; readonly longestMs: number }): number {
  const { firstMs, longestMs } = limits;
  return Math.min(longestMs, firstMs * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** The pause that the service requests, in ms; 0 if it requests none. */
export function requestedPauseMs(error: unknown): number {
  return (error instanceof ApiError && error.retryAfterMs) || 0;
}
