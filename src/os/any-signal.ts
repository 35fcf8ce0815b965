/** Combines signals, and limits time by one. No other file calls `AbortSignal.any`. */
import { setMaxListeners } from 'node:events';

const sourcesOf = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * Returns a signal that aborts with the first of `signals`, for the same reason. It holds its sources: on Node 20, that of
 * `AbortSignal.any` does not, so a time limit that nothing else holds is collected as garbage and never fires.
 *
 * While it has a listener, Node holds it until a source aborts. For a use that leaves listeners behind, call `withAnySignal`.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const sources = [...signals];
  const combined = AbortSignal.any(sources);
  sourcesOf.set(combined, sources);
  return combined;
}

/**
 * Calls `use` with a signal that aborts with the first of `signals`, for the same reason. Once `use` has ended, the signal
 * aborts no more, and whatever listens to it can be collected as garbage. It may have any number of listeners.
 */
export async function withAnySignal<T>(
  signals: readonly AbortSignal[],
  use: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ofThisUse = new AbortController();
  setMaxListeners(0, ofThisUse.signal);
  // A listener on each of `signals` would make Node warn when many uses share one.
  const combined = anySignal(signals);
  const abort = () => ofThisUse.abort(combined.reason);
  if (combined.aborted) abort();
  combined.addEventListener('abort', abort, { once: true });
  try {
    return await use(ofThisUse.signal);
  } finally {
    combined.removeEventListener('abort', abort);
  }
}

/**
 * Like `AbortSignal.timeout`, which Node 22 never lets go of once it is combined with a signal that lives on.
 * It aborts after `ms` with a `TimeoutError`, and keeps no process running.
 */
export function timeLimit(ms: number): AbortSignal {
  const limit = new AbortController();
  setTimeout(() => limit.abort(new DOMException('The time limit has passed.', 'TimeoutError')), ms).unref();
  return limit.signal;
}
