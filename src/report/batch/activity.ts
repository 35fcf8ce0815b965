/** Counts the forks in each phase over time. */
import type { PageItem, SegmentKind } from '../page-data.js';

/** Phases in which an item holds a fork, in the order in which they are stacked. */
export const forkKinds = ['prompting', 'preparing', 'booting', 'ending'] as const satisfies readonly SegmentKind[];
export type ForkKind = (typeof forkKinds)[number];

export interface Activity {
  readonly bucketMs: number;
  /** Forks in each phase, averaged over each bucket of time. */
  readonly forks: Readonly<Record<ForkKind, readonly number[]>>;
  /** The largest number of forks in all phases together, as an average over one bucket. */
  readonly peak: number;
}

/** @param spanMs length of the time span, which is divided into `buckets` equal parts */
export function activityOf(items: readonly PageItem[], spanMs: number, buckets: number): Activity {
  const bucketMs = Math.max(1, spanMs) / buckets;
  const forks = Object.fromEntries(forkKinds.map((kind) => [kind, new Array<number>(buckets).fill(0)])) as Record<
    ForkKind,
    number[]
  >;
  for (const { segments } of items) {
    for (const { kind, from, to } of segments) {
      if (kind === 'queued') continue;
      const row = forks[kind];
      const last = Math.min(buckets - 1, Math.floor(to / bucketMs));
      for (let at = Math.max(0, Math.floor(from / bucketMs)); at <= last; at += 1) {
        const shared = Math.min(to, (at + 1) * bucketMs) - Math.max(from, at * bucketMs);
        row[at] = (row[at] ?? 0) + Math.max(0, shared) / bucketMs;
      }
    }
  }
  let peak = 0;
  for (let at = 0; at < buckets; at += 1) {
    peak = Math.max(
      peak,
      forkKinds.reduce((total, kind) => total + (forks[kind][at] ?? 0), 0),
    );
  }
  return { bucketMs, forks, peak };
}
