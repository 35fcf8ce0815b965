/** The items of a running batch as a table: those that failed, then those that run. Pure. */
import type { FanoutCounts } from '../../../protocol/fanout/fanout-progress.js';
import { displayWidth } from '../../output/display-width.js';
import type { ScreenLine } from '../../output/screen-lines.js';
import { cell, duration, fitted, type LineOptions, lineOf, type Part } from './line.js';

export interface ItemRow {
  /** Place of the item in the batch, from 0. */
  readonly index: number;
  readonly itemId: string;
  /** What the item does, or how it ended; a few words. */
  readonly phase: string;
  /** Since when, as an ISO 8601 time; null if unknown. */
  readonly since: string | null;
  /** What its agent said or ran last, or why it failed; empty if unknown. */
  readonly text: string;
  /** True if it cannot continue by itself. */
  readonly isBlocked?: boolean;
}

export interface ItemTable {
  /** Newest first. */
  readonly failures: readonly ItemRow[];
  /** Those that have run longest first. */
  readonly running: readonly ItemRow[];
  readonly counts: Pick<FanoutCounts, 'failed' | 'running'>;
  readonly nowMs: number;
}

const widestId = 24;
const header = { itemId: 'ITEM', phase: 'PHASE', age: 'FOR' } as const;

/**
 * At most `rows` lines, none wider than `width`. Failures take at most half of them if items run. The last line counts
 * the items that do not fit.
 */
export function itemLines(
  { failures, running, counts, nowMs }: ItemTable,
  { rows, ...options }: LineOptions & { readonly rows: number },
): ScreenLine[] {
  const runs = new Set(running.map(({ index }) => index));
  // An item that is retried runs.
  const failed = failures.filter(({ index }) => !runs.has(index));
  if (failed.length + running.length === 0 || rows < 2) return [];
  const total = Math.max(counts.failed, failed.length) + Math.max(counts.running, running.length);
  const room = rows - 1 >= total ? rows - 1 : rows - 2;
  const shownFailed = failed.slice(0, Math.max(Math.ceil(room / 2), room - running.length));
  const shownRunning = running.slice(0, room - shownFailed.length);
  const cells = [...shownFailed, ...shownRunning].map((row) => ({ row, age: ageOf(row, nowMs) }));
  const widths = {
    itemId: widest(
      header.itemId,
      cells.map(({ row }) => lineOf(row.itemId)),
      Math.min(widestId, Math.floor(options.width / 4)),
    ),
    phase: widest(
      header.phase,
      cells.map(({ row }) => lineOf(row.phase)),
      Math.floor(options.width / 4),
    ),
    age: widest(
      header.age,
      cells.map(({ age }) => age),
      Math.floor(options.width / 4),
    ),
  };
  const head = `${cell(header.itemId, widths.itemId)}  ${cell(header.phase, widths.phase)}  ${cell(header.age, widths.age)}`;
  const hidden = [
    [counts.failed - shownFailed.length, 'failed'],
    [counts.running - shownRunning.length, 'running'],
  ].flatMap(([count, word]) => (Number(count) > 0 ? [`${count} more ${word}`] : []));
  const lines: Part[][] = [
    [['dim', head]],
    ...cells.map(({ row, age }, at): Part[] => {
      const phase = cell(row.phase, widths.phase);
      const isFailed = at < shownFailed.length;
      return [
        `${cell(row.itemId, widths.itemId)}  `,
        isFailed ? ['red', phase] : row.isBlocked ? ['yellow', phase] : phase,
        `  ${cell(age, widths.age)}  `,
        isFailed ? lineOf(row.text) : ['dim', lineOf(row.text)],
      ];
    }),
    ...(hidden.length > 0 ? [[['dim', `… ${hidden.join(', ')}`] as const]] : []),
  ];
  return lines.map((parts) => fitted(parts, options)).slice(0, rows);
}

function ageOf({ since }: ItemRow, nowMs: number): string {
  const ms = nowMs - Date.parse(since ?? '');
  return Number.isFinite(ms) ? duration(ms) : '';
}

function widest(title: string, texts: readonly string[], most: number): number {
  return Math.max(1, Math.min(most, Math.max(title.length, ...texts.map(displayWidth))));
}
