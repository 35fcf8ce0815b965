/** How fast a batch goes, from what was seen of it. */

const windowMs = 180_000;
/** Less says nothing. */
const leastSpanMs = 5_000;

export interface ProgressRate {
  /** Notes how many items had ended at a time. */
  observe(ended: number, atMs: number): void;
  /** Items a minute within the last three minutes; null while too little was seen. */
  perMinute(): number | null;
}

export function createProgressRate(): ProgressRate {
  let seen: { readonly ended: number; readonly atMs: number }[] = [];

  return {
    observe(ended, atMs) {
      const last = seen.at(-1);
      // A batch that was resumed has fewer that have ended.
      if (last && (ended < last.ended || atMs < last.atMs)) seen = [];
      seen.push({ ended, atMs });
      // One from before the window stays, to measure from.
      while ((seen[1]?.atMs ?? atMs) < atMs - windowMs) seen.shift();
    },
    perMinute() {
      const [first, last] = [seen[0], seen.at(-1)];
      if (!first || !last || last.atMs - first.atMs < leastSpanMs) return null;
      return ((last.ended - first.ended) / (last.atMs - first.atMs)) * 60_000;
    },
  };
}

/** How long the rest takes at this rate, in ms; null where nobody can say. */
export function timeLeftMs(left: number, perMinute: number | null): number | null {
  if (perMinute === null || !(perMinute > 0) || !(left > 0)) return null;
  const ms = (left / perMinute) * 60_000;
  return Number.isFinite(ms) ? ms : null;
}
