/** Reduces the concurrency of a batch while the service throttles its forks, and restores it step by step. Pure. */
import type { Throttle } from '../../../src/protocol/fanout/batch-parts.js';

export interface ThrottleRules {
  /** The requested concurrency. */
  readonly concurrency: number;
  readonly recoverEveryMs: number;
}

export function freshThrottle(concurrency: number): Throttle {
  return { limit: concurrency, pausedUntilMs: null, cutAtMs: null };
}

/**
 * Pauses new forks and halves the number of concurrent items. Does this only once for refusals that arrive together.
 */
export function throttled(
  state: Throttle,
  event: { readonly untilMs: number; readonly nowMs: number },
  { recoverEveryMs }: ThrottleRules,
): Throttle {
  const { untilMs, nowMs } = event;
  const pausedUntilMs = Math.max(state.pausedUntilMs ?? 0, untilMs);
  if (state.cutAtMs !== null && nowMs < state.cutAtMs + recoverEveryMs) return { ...state, pausedUntilMs };
  return { limit: Math.max(1, Math.floor(state.limit / 2)), pausedUntilMs, cutAtMs: nowMs };
}

/**
 * Raises the number of concurrent items by a tenth of the requested concurrency, at most once per `recoverEveryMs`.
 * Does nothing during a pause.
 */
export function recovered(state: Throttle, nowMs: number, { concurrency }: ThrottleRules): Throttle {
  if (state.pausedUntilMs !== null && nowMs < state.pausedUntilMs) return state;
  const limit = Math.min(concurrency, state.limit + Math.max(1, Math.ceil(concurrency / 10)));
  return { ...state, limit, pausedUntilMs: null };
}
