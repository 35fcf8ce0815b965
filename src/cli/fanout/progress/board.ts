/** Progress of a running batch as text: counters and a table of items on a terminal, one line elsewhere. Pure. */
import { classesText } from '../../../protocol/failure-class.js';
import type { FanoutCounts, FanoutPhase, FanoutProgress } from '../../../protocol/fanout/fanout-progress.js';
import { dollarsText } from '../../../report/numbers.js';
import { displayWidth } from '../../output/display-width.js';
import type { ScreenLine } from '../../output/screen-lines.js';
import { oneLine } from '../../output/terminal-safe.js';
import { cell, duration, fitted, type LineOptions, lineOf, type Part } from './line.js';
import { timeLeftMs } from './pace.js';
import { endedOf, type ItemRow, type KnownItems, shownItems } from './shown-items.js';

const longestBar = 40;

export interface BoardView extends Omit<ItemTable, 'counts'> {
  readonly progress: FanoutProgress;
  /** Items that end per minute; null while unknown. */
  readonly perMinute: number | null;
  /** List price of a machine-second; null if unknown. */
  readonly dollarsPerSecond: number | null;
}

export interface BoardOptions extends LineOptions {
  /** Lines that the board may take. The counters stay, and items fill what is left. */
  readonly rows: number;
}

const phaseTexts: Readonly<Record<FanoutPhase, string>> = {
  preparing: 'preparing the source',
  checking_source: 'checking the source',
  running: 'running',
  ending: 'ending the remaining items',
  ended: 'ended',
};

/** No line is wider than `width`. */
export function boardLines(view: BoardView, { rows, ...options }: BoardOptions): ScreenLine[] {
  const counters = counterLines(view, options);
  const { counts } = view.progress;
  return [...counters, ...itemLines({ ...view, counts }, { ...options, rows: rows - counters.length })];
}

function counterLines(view: BoardView, options: LineOptions): ScreenLine[] {
  const { progress } = view;
  const { counts, throttledUntil, blocked } = progress;
  const throttledMs = throttledUntil == null ? 0 : Date.parse(throttledUntil) - view.nowMs;
  const lines: (Part[] | false)[] = [
    [['bold', nameOf(progress)], ` · ${phaseText(progress)} · ${lasted(view)}`],
    barLine(progress, options.width),
    countParts(counts),
    [[paceText(view), deadlineText(view)].filter((text) => text !== '').join(' · ')],
    [costText(view)],
    throttledMs > 0 && [['yellow', `throttled: new forks wait ${duration(throttledMs)}`]],
    blocked != null && [['yellow', `blocked: ${lineOf(blocked.message)}`]],
  ];
  return lines
    .filter((line) => line !== false)
    .map((parts) => fitted(parts, options))
    .filter((line) => line.width > 0);
}

/** The progress in one line, for output that cannot be redrawn. Omits values that change every second. */
export function plainLine(view: Pick<BoardView, 'progress' | 'perMinute'>): string {
  const { progress, perMinute } = view;
  const { counts, throttledUntil } = progress;
  const left = timeLeftMs(counts.queued + counts.running, perMinute);
  return [
    lineOf(phaseText(progress)),
    `${endedOf(counts)} of ${total(progress)}`,
    countParts(counts)
      .map((part) => (typeof part === 'string' ? part : part[1]))
      .join(''),
    ...(left === null ? [] : [`about ${duration(left)} left`]),
    ...(throttledUntil == null ? [] : ['throttled']),
  ].join(' · ');
}

function nameOf({ batchId, title }: FanoutProgress): string {
  return title == null ? lineOf(batchId) : `${oneLine(title)} (${lineOf(batchId)})`;
}

function phaseText({ phase, outcome }: FanoutProgress): string {
  return outcome == null ? (phaseTexts[phase] ?? lineOf(phase)) : `${phaseTexts.ended}: ${outcome}`;
}

/** Until the batch is sealed, more items may arrive. */
function total({ counts, sealed }: FanoutProgress): string {
  return sealed ? `${counts.items}` : `${counts.items} so far`;
}

function barLine(progress: FanoutProgress, width: number): Part[] {
  const { counts } = progress;
  const share = (count: number) => (counts.items > 0 ? Math.min(1, Math.max(0, count / counts.items)) : 0);
  const text = ` ${Math.floor(share(endedOf(counts)) * 100)} % · ${endedOf(counts)} of ${total(progress)}`;
  const cells = Math.max(0, Math.min(longestBar, width - displayWidth(text)));
  const done = Math.floor(share(counts.completed) * cells);
  const failed = Math.min(cells - done, Math.ceil(share(counts.failed) * cells));
  const running = Math.min(cells - done - failed, Math.ceil(share(counts.running) * cells));
  return [
    ['green', '█'.repeat(done)],
    ['red', '█'.repeat(failed)],
    ['cyan', '▒'.repeat(running)],
    ['dim', '░'.repeat(cells - done - failed - running)],
    text,
  ];
}

function countParts(counts: FanoutCounts): Part[] {
  const { completed, failed, running, queued, retried } = counts;
  const leftOut = endedOf(counts) - completed - failed;
  const whose = classesText(counts.byClass);
  return [
    `${completed} done · `,
    failed > 0 ? ['red', `${failed} failed${whose && ` (${whose})`}`] : `${failed} failed`,
    ` · ${running} running · ${queued} queued`,
    ...(leftOut > 0 ? [` · ${leftOut} left out`] : []),
    ...(retried > 0 ? [` · ${retried} retried`] : []),
  ];
}

function paceText({ progress: { counts }, perMinute }: BoardView): string {
  const left = timeLeftMs(counts.queued + counts.running, perMinute);
  return [
    ...(perMinute === null || !Number.isFinite(perMinute)
      ? []
      : [`${perMinute.toFixed(perMinute >= 10 ? 0 : 1)} a minute`]),
    ...(left === null ? [] : [`about ${duration(left)} left`]),
  ].join(' · ');
}

function deadlineText({ progress, nowMs }: BoardView): string {
  const leftMs = Date.parse(progress.deadlineAt) - nowMs;
  if (progress.outcome != null || !Number.isFinite(leftMs)) return '';
  return leftMs > 0 ? `deadline in ${duration(leftMs)}` : 'the deadline has passed';
}

function costText({ progress, dollarsPerSecond }: BoardView): string {
  const { limitSeconds, spentSeconds, reservedSeconds } = progress.budget;
  return [
    `machine time ${duration(spentSeconds * 1_000)}${limitSeconds == null ? '' : ` of ${duration(limitSeconds * 1_000)}`}`,
    // Without a budget nothing is held back, and the sum would only frighten.
    ...(limitSeconds != null && reservedSeconds > 0 ? [`${duration(reservedSeconds * 1_000)} reserved`] : []),
    ...(dollarsPerSecond === null ? [] : [dollarsText(spentSeconds * dollarsPerSecond)]),
  ].join(' · ');
}

/** How long the batch has been running, or how long it took if it has ended. */
function lasted({ progress, nowMs }: BoardView): string {
  const { outcome, since, startedAt } = progress;
  return duration((outcome == null ? nowMs : Date.parse(since)) - Date.parse(startedAt));
}

interface ItemTable extends KnownItems {
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
  const quarter = Math.floor(options.width / 4);
  const widest = (title: string, textOf: (one: (typeof cells)[number]) => string, most = quarter) =>
    Math.max(1, Math.min(most, Math.max(title.length, ...cells.map((one) => displayWidth(textOf(one))))));
  const widths = {
    itemId: widest(header.itemId, ({ row }) => lineOf(row.itemId), Math.min(widestId, quarter)),
    phase: widest(header.phase, ({ row }) => lineOf(row.phase)),
    age: widest(header.age, ({ age }) => age),
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
