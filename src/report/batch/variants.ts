/** Compares the variants of a matrix. */
import { quantile, sum } from '../stats.js';
import { isDecided } from './failures.js';
import type { Matrix } from './matrix.js';
import { durationsOf } from './summary.js';

export interface VariantRow {
  readonly name: string;
  /** Items that succeeded or failed. */
  readonly items: number;
  /** Items that were ended early or never started. They say nothing about the variant, and no other number counts them. */
  readonly leftOut: number;
  readonly completed: number;
  /** Duration of these items, in ms; null if none was forked. */
  readonly medianMs: number | null;
  readonly p90Ms: number | null;
  readonly machineSeconds: number;
}

/** One row for each variant, in the order of the batch. */
export function variantRows({ columns, rows }: Matrix): VariantRow[] {
  return columns.map((name, column) => {
    const all = rows.flatMap(({ cells }) => cells[column] ?? []);
    const own = all.filter(isDecided);
    const durations = durationsOf(own);
    return {
      name,
      items: own.length,
      leftOut: all.length - own.length,
      completed: own.filter(({ outcome }) => outcome === 'completed').length,
      medianMs: quantile(durations, 0.5),
      p90Ms: quantile(durations, 0.9),
      machineSeconds: sum(own.map(({ machineSeconds }) => machineSeconds)),
    };
  });
}
