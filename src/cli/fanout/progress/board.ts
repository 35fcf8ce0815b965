/** Progress of a running batch as text: a few lines on a terminal, one line elsewhere. Pure. */
import type { FanoutCounts, FanoutPhase, FanoutProgress } from '../../../../workflows/fanout/progress.js';
import { dollarsText } from '../../../report/format.js';
import { cutToWidth, displayWidth } from '../../output/display-width.js';
import type { ScreenLine } from '../../output/screen-lines.js';
import type { Paint } from '../../output/terminal.js';
import { oneLine } from '../../output/terminal-safe.js';
import { formatDuration } from '../../units.js';
import { timeLeftMs } from './rate.js';

const longestBar = 40;

export interface BoardView {
  readonly progress: FanoutProgress;
  readonly nowMs: number;
  /** Items that end per minute; null while unknown. */
  readonly perMinute: number | null;
  /** List price of a machine-second; null if unknown. */
  readonly dollarsPerSecond: number | null;
  /** The last items that failed, newest first. */
  readonly failures: readonly { readonly itemId: string; readonly text: string }[];
}

export interface BoardOptions {
  /** Columns that a line may take. */
  readonly width: number;
  readonly paint: Paint;
}

type Style = Parameters<Paint>[0];
type Part = string | readonly [Style, string];

const phaseTexts: Readonly<Record<FanoutPhase, string>> = {
  preparing: 'preparing the source',
  checking_source: 'checking the source',
  running: 'running',
  ending: 'ending the remaining items',
  ended: 'ended',
};

/** No line is wider than `width`. */
export function boardLines(view: BoardView, { width, paint }: BoardOptions): ScreenLine[] {
  const { progress, failures } = view;
  const { counts, throttledUntil, blocked } = progress;
  const throttledMs = throttledUntil == null ? 0 : Date.parse(throttledUntil) - view.nowMs;
  const lines: (Part[] | false)[] = [
    [['bold', nameOf(progress)], ` · ${phaseText(progress)} · ${lasted(view)}`],
    barLine(progress, width),
    countParts(counts),
    [[paceText(view), deadlineText(view)].filter((text) => text !== '').join(' · ')],
    [costText(view)],
    throttledMs > 0 && [['yellow', `throttled: new forks wait ${duration(throttledMs)}`]],
    blocked != null && [['yellow', `blocked: ${lineOf(blocked.message)}`]],
    ...failures.map(({ itemId, text }): Part[] => [['red', `failed ${lineOf(itemId)}: `], lineOf(text)]),
  ];
  return lines
    .filter((line) => line !== false)
    .map((parts) => fitted(parts, width, paint))
    .filter((line) => line.width > 0);
}

/** One line of text, cut to the width. */
export function boardLine(text: string, { width, paint }: BoardOptions): ScreenLine {
  return fitted([['dim', text]], width, paint);
}

/** The progress in one line, for output that cannot be redrawn. Omits values that change every second. */
export function plainLine(view: Pick<BoardView, 'progress' | 'perMinute'>): string {
  const { progress, perMinute } = view;
  const { counts, throttledUntil } = progress;
  const left = timeLeftMs(leftOf(counts), perMinute);
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

/** A text of a workflow or of the result store, in one line. Nothing checks these against their types. */
export function lineOf(text: string | null | undefined): string {
  return oneLine(text ?? '?');
}

/** Number of items that have ended, with any outcome. */
export function endedOf({ items, queued, running }: FanoutCounts): number {
  return Math.max(0, items - queued - running);
}

function leftOf({ queued, running }: FanoutCounts): number {
  return queued + running;
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
  return [
    `${completed} done · `,
    failed > 0 ? ['red', `${failed} failed`] : `${failed} failed`,
    ` · ${running} running · ${queued} queued`,
    ...(leftOut > 0 ? [` · ${leftOut} left out`] : []),
    ...(retried > 0 ? [` · ${retried} retried`] : []),
  ];
}

function paceText({ progress, perMinute }: BoardView): string {
  const left = timeLeftMs(leftOf(progress.counts), perMinute);
  return [
    ...(perMinute === null || !Number.isFinite(perMinute) ? [] : [`${rateText(perMinute)} a minute`]),
    ...(left === null ? [] : [`about ${duration(left)} left`]),
  ].join(' · ');
}

function rateText(perMinute: number): string {
  return perMinute >= 10 ? String(Math.round(perMinute)) : perMinute.toFixed(1);
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
    ...(reservedSeconds > 0 ? [`${duration(reservedSeconds * 1_000)} reserved`] : []),
    ...(dollarsPerSecond === null ? [] : [dollarsText(spentSeconds * dollarsPerSecond)]),
  ].join(' · ');
}

/** How long the batch has been running, or how long it took if it has ended. */
function lasted({ progress, nowMs }: BoardView): string {
  const { outcome, since, startedAt } = progress;
  return duration((outcome == null ? nowMs : Date.parse(since)) - Date.parse(startedAt));
}

/** Formats a duration in whole seconds. An invalid number counts as 0. */
export function duration(ms: number): string {
  const seconds = Number.isFinite(ms) ? Math.max(0, Math.floor(ms / 1_000)) : 0;
  return seconds < 10 ? `${seconds} s` : formatDuration(seconds * 1_000);
}

/** Cuts before colouring, so that no colour sequence is cut in half. */
function fitted(parts: readonly Part[], width: number, paint: Paint): ScreenLine {
  let used = 0;
  let text = '';
  for (const part of parts) {
    const [style, whole] = typeof part === 'string' ? [undefined, part] : part;
    const line = lineOf(whole);
    const cut = cutToWidth(line, width - used);
    used += displayWidth(cut);
    text += style === undefined || cut === '' ? cut : paint(style, cut);
    if (cut !== line) break;
  }
  return { text, width: used };
}
