/** Computes the numbers in the HTML of the report, which are visible without a script. */
import type { FanoutCounts } from '../../protocol/fanout/fanout-progress.js';
import { outcomeStyles } from '../outcome-styles.js';
import type { PageItem, SegmentKind } from '../page-data.js';
import { quantile, sum } from '../stats.js';

export interface OutcomeRow {
  readonly outcome: string;
  readonly items: number;
  /** Median duration of the items that were forked, in ms; null if no item was forked. */
  readonly medianMs: number | null;
  readonly longestMs: number | null;
  readonly machineSeconds: number;
}

/** One row for each outcome that occurs, in the order of `outcomeStyles`. Items that still run have no row. */
export function outcomeRows(items: readonly PageItem[], counts: FanoutCounts): OutcomeRow[] {
  const names = new Set([...Object.keys(outcomeStyles), ...items.map(({ outcome }) => outcome)]);
  const byOutcome: Readonly<Record<string, number>> = counts.byOutcome;
  return [...names]
    .map((outcome): OutcomeRow => {
      const own = items.filter((item) => item.outcome === outcome);
      const durations = durationsOf(own);
      return {
        outcome,
        items: Math.max(own.length, byOutcome[outcome] ?? 0),
        medianMs: quantile(durations, 0.5),
        longestMs: quantile(durations, 1),
        machineSeconds: sum(own.map(({ machineSeconds }) => machineSeconds)),
      };
    })
    .filter((row) => row.items > 0);
}

export interface PhaseRow {
  readonly kind: SegmentKind;
  readonly medianMs: number;
  readonly p90Ms: number;
  readonly longestMs: number;
}

/** One row for each phase, with the time that items were in it. A phase that no item reached has no row. */
export function phaseRows(items: readonly PageItem[]): PhaseRow[] {
  const kinds: readonly SegmentKind[] = ['queued', 'booting', 'preparing', 'prompting', 'ending'];
  return kinds.flatMap((kind) => {
    const values = items.flatMap(({ segments }) => {
      const own = segments.filter((segment) => segment.kind === kind);
      return own.length > 0 ? [sum(own.map(({ from, to }) => to - from))] : [];
    });
    const [medianMs, p90Ms, longestMs] = [0.5, 0.9, 1].map((q) => quantile(values, q));
    if (medianMs == null || p90Ms == null || longestMs == null) return [];
    return [{ kind, medianMs, p90Ms, longestMs }];
  });
}

export function durationsOf(items: readonly PageItem[]): number[] {
  return items.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]));
}
