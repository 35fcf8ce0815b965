/** Lines of a terminal, made of parts with and without a colour, and cut to its width. Pure. */
import { cutToWidth, displayWidth } from '../../output/display-width.js';
import type { ScreenLine } from '../../output/screen-lines.js';
import type { Paint } from '../../output/terminal.js';
import { oneLine } from '../../output/terminal-safe.js';
import { formatDuration } from '../../units.js';

type Style = Parameters<Paint>[0];
export type Part = string | readonly [Style, string];

export interface LineOptions {
  /** Columns that a line may take. */
  readonly width: number;
  readonly paint: Paint;
}

/** A text of a workflow or of the result store, in one line. Nothing checks these against their types. */
export function lineOf(text: string | null | undefined): string {
  return oneLine(text ?? '?');
}

/** Cuts before colouring, so that no colour sequence is cut in half. */
export function fitted(parts: readonly Part[], { width, paint }: LineOptions): ScreenLine {
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

/** Cuts a text to a column, and fills it up with spaces. */
export function cell(text: string | null | undefined, columns: number): string {
  const cut = cutToWidth(lineOf(text), columns);
  return cut + ' '.repeat(Math.max(0, columns - displayWidth(cut)));
}

/** Formats a duration in whole seconds. An invalid number counts as 0. */
export function duration(ms: number): string {
  const seconds = Number.isFinite(ms) ? Math.max(0, Math.floor(ms / 1_000)) : 0;
  return seconds < 10 ? `${seconds} s` : formatDuration(seconds * 1_000);
}
