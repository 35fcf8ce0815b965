/** Combines signals. No other file calls `AbortSignal.any`. */

const sourcesOf = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * Returns a signal that aborts with the first of `signals`, for the same reason. It holds its sources: on Node 20, that of
 * `AbortSignal.any` does not, so a time limit that nothing else holds is collected as garbage and never fires.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const sources = [...signals];
  const combined = AbortSignal.any(sources);
  sourcesOf.set(combined, sources);
  return combined;
}
