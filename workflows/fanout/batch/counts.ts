/** Adds up the reports of the chunks of a batch. Pure. */

import type { ChunkRecord, ChunkReport } from '../../../src/protocol/fanout/batch-parts.js';
import type { ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { FanoutCounts } from '../../../src/protocol/fanout/fanout-progress.js';
import { isFailure } from '../chunk/retry-policy.js';

type ByOutcome = Readonly<Partial<Record<ItemOutcome, number>>>;
type Counted = Pick<ChunkRecord, 'items'> & {
  readonly report: Pick<ChunkReport, 'running' | 'byOutcome' | 'byClass' | 'retried' | 'hasEnded'> | null;
};

/**
 * Counts the items of the batch: `queued`, `running` and the outcomes add up to `items`.
 * @param isOver true once the batch has ended; items that remain were then never started
 */
export function countsOf(chunks: readonly Counted[], isOver: boolean): FanoutCounts {
  const reports = chunks.flatMap(({ report }) => report ?? []);
  const items = sumOf(chunks, (chunk) => chunk.items);
  const running = sumOf(reports, (report) => report.running);
  const retried = sumOf(reports, (report) => report.retried);
  const { byOutcome, byClass } = sumCounts(reports);
  let queued = items - running - totalOf(byOutcome);
  if (isOver && queued > 0) {
    byOutcome.not_started = (byOutcome.not_started ?? 0) + queued;
    queued = 0;
  }
  const failed = failedIn({ byOutcome });
  return { items, queued, running, completed: byOutcome.completed ?? 0, failed, retried, byOutcome, byClass };
}

/** Number of items of the chunk that have not ended. */
export function unfinished({ items, report }: Counted): number {
  return items - endedIn(report);
}

/** Number of items that a chunk has reported as ended. */
export function endedIn(report: Pick<ChunkReport, 'byOutcome'> | null): number {
  return totalOf(report?.byOutcome ?? {});
}

export function failedIn(report: Pick<ChunkReport, 'byOutcome'> | null): number {
  return totalOf(report?.byOutcome ?? {}, isFailure);
}

/** Adds up the counts of several reports. */
export function sumCounts(reports: readonly Pick<ChunkReport, 'byOutcome' | 'byClass'>[]) {
  const byOutcome = summed(reports.map((report) => report.byOutcome));
  return { byOutcome, byClass: summed(reports.map((report) => report.byClass ?? {})) };
}

function summed<K extends string>(all: readonly Readonly<Partial<Record<K, number>>>[]) {
  const sum: Partial<Record<K, number>> = {};
  for (const [key, count] of all.flatMap((one) => Object.entries(one) as [K, number][])) {
    sum[key] = (sum[key] ?? 0) + count;
  }
  return sum;
}

export function outcomesOf(byOutcome: ByOutcome): [ItemOutcome, number][] {
  return Object.entries(byOutcome) as [ItemOutcome, number][];
}

export function sumOf<T>(all: readonly T[], value: (one: T) => number): number {
  return all.reduce((total, one) => total + value(one), 0);
}

function totalOf(byOutcome: ByOutcome, counts: (outcome: ItemOutcome) => boolean = () => true): number {
  return sumOf(outcomesOf(byOutcome), ([outcome, count]) => (counts(outcome) ? count : 0));
}
