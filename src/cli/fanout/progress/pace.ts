/** Measures the rate of a batch. */

const windowMs = 180_000;
/** Observations over a shorter span give no representative rate. */
const leastSpanMs = 5_000;
/** So few items give no representative rate. */
const leastEnded = 3;

export function createProgressRate() {
  let seen: { readonly ended: number; readonly atMs: number }[] = [];
  let firstEnded: number | undefined;
  let isKnown = false;

  return {
    /** Records how many items had ended, and how many ran, at `atMs`. */
    observe({ ended, running }: { readonly ended: number; readonly running: number }, atMs: number): void {
      const last = seen.at(-1);
      // After a resume, the number of ended items may be smaller than before.
      if (last && (ended < last.ended || atMs < last.atMs)) {
        [seen, firstEnded, isKnown] = [[], undefined, false];
      }
      firstEnded ??= ended;
      isKnown ||= ended - firstEnded >= leastEnded && ended >= running;
      seen.push({ ended, atMs });
      // Keep one observation from before the window as the baseline.
      while ((seen[1]?.atMs ?? atMs) < atMs - windowMs) seen.shift();
    },
    /**
     * Items per minute over the last three minutes; null while too few were seen to end. At first as many must have ended
     * as run at once: until then, the time before the first end makes the rate too small.
     */
    perMinute(): number | null {
      const [first, last] = [seen[0], seen.at(-1)];
      if (!isKnown || !first || !last || last.atMs - first.atMs < leastSpanMs) return null;
      return ((last.ended - first.ended) / (last.atMs - first.atMs)) * 60_000;
    },
  };
}

/** How long the remaining items take at this rate, in ms; null if unknown. */
export function timeLeftMs(left: number, perMinute: number | null): number | null {
  if (perMinute === null || !(perMinute > 0) || !(left > 0)) return null;
  const ms = (left / perMinute) * 60_000;
  return Number.isFinite(ms) ? ms : null;
}
