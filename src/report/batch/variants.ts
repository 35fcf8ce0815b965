/** Compares the variants of a matrix. */
import { cellKey, matrixOf } from '../browser/matrix/matrix-shape.js';
import type { PageItem } from '../page-data.js';
import { quantile, sum } from '../stats.js';
import { durationsOf } from './summary.js';

export interface VariantRow {
  readonly name: string;
  readonly items: number;
  readonly completed: number;
  /** Duration of the items that were forked, in ms; null if no item was forked. */
  readonly medianMs: number | null;
  readonly p90Ms: number | null;
  readonly machineSeconds: number;
}

/** One row for each variant, in the order of the batch. Empty if the items form no matrix. */
export function variantRows(items: readonly PageItem[]): VariantRow[] {
  const matrix = matrixOf(items);
  if (!matrix) return [];
  return matrix.columns.map((name) => {
    const own = [...matrix.rows.keys()].flatMap((row) => matrix.cells.get(cellKey(row, name)) ?? []);
    const durations = durationsOf(own);
    return {
      name,
      items: own.length,
      completed: own.filter(({ outcome }) => outcome === 'completed').length,
      medianMs: quantile(durations, 0.5),
      p90Ms: quantile(durations, 0.9),
      machineSeconds: sum(own.map(({ machineSeconds }) => machineSeconds)),
    };
  });
}
