/** The items of a running batch as a table: those that failed, then those that run. Pure. */
import { displayWidth } from '../../output/display-width.js';
import type { ScreenLine } from '../../output/screen-lines.js';
import { cell, duration, fitted, type LineOptions, lineOf, type Part } from './line.js';
import { type ItemRow, type KnownItems, shownItems } from './shown-items.js';

export interface ItemTable extends KnownItems {
  readonly nowMs: number;
}

const widestId = 24;
const header = { itemId: 'ITEM', phase: 'PHASE', age: 'FOR' } as const;

/**
 * At most `rows` lines, none wider than `width`. Failures take at most half of them if items run. The last line counts
 * the items that do not fit.
 */
export function itemLines(
  { nowMs, ...known }: ItemTable,
  { rows, ...options }: LineOptions & { readonly rows: number },
): ScreenLine[] {
  const { counts } = known;
  const { failed, running } = shownItems(known);
  if (failed.length + running.length === 0 || rows < 2) return [];
  const total = Math.max(counts.failed, failed.length) + Math.max(counts.running, running.length);
  const room = rows - 1 >= total ? rows - 1 : rows - 2;
  const shownFailed = failed.slice(0, Math.max(Math.ceil(room / 2), room - running.length));
  const shownRunning = running.slice(0, room - shownFailed.length);
  const cells = [
    ...shownFailed.map((row) => ({ row, age: agoText(ageOf(row, nowMs)) })),
    ...shownRunning.map((row) => ({ row, age: ageOf(row, nowMs) })),
  ];
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

function agoText(age: string): string {
  return age === '' ? '' : `${age} ago`;
}

function widest(title: string, texts: readonly string[], most: number): number {
  return Math.max(1, Math.min(most, Math.max(title.length, ...texts.map(displayWidth))));
}
