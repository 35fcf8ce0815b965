/** Redraws a few lines at the bottom of a terminal, while other lines scroll above them. */
import type { OutputStream } from '../io.js';
import { cutToWidth, displayWidth } from './display-width.js';
import { control } from './terminal.js';
import { oneLine } from './terminal-safe.js';

const redrawMs = 1_000;

/** What does not fit into the rows is left out. */
export type DrawnLines = (width: number, rows: number) => readonly ScreenLine[];

export interface ScreenLine {
  /** What is written, colours included. */
  readonly text: string;
  /** Width in columns. */
  readonly width: number;
}

/** @param options `enabled` is false where nobody wants to see them */
export function createScreenLines(stream: OutputStream, options: { readonly enabled: boolean }) {
  let enabled = options.enabled && stream.isTTY === true && stream.isPlain !== true;
  let current: DrawnLines | undefined;
  let drawn: readonly ScreenLine[] = [];
  let timer: NodeJS.Timeout | undefined;

  /**
   * The sequence that moves to the first drawn line and clears from there. Counts wrapped rows, because the terminal
   * may have become narrower. The cursor is at the start of the last line.
   */
  const back = (): string => {
    if (drawn.length === 0) return '';
    const columns = columnsOf(stream);
    const above = drawn.slice(0, -1).reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return control(`\u001b[1G${above > 0 ? `\u001b[${above}A` : ''}\u001b[J`);
  };
  const end = () => {
    current = undefined;
    clearInterval(timer);
    timer = undefined;
  };
  const draw = (above = '') => {
    if (!enabled) return;
    const clear = back();
    let note = '';
    try {
      // The last column stays free: some terminals wrap as soon as that column is written.
      const rows = rowsOf(stream);
      drawn = (current?.(columnsOf(stream) - 1, rows) ?? []).slice(0, rows);
    } catch (error) {
      // Nobody awaits the timer: the error would end the process, and with it the command that is only shown here.
      drawn = [];
      end();
      enabled = false;
      note = `The live display has a defect (${oneLine(String(error))}). Progress follows in plain lines.\n`;
    }
    // What a person types, such as the ^C of Ctrl-C, is echoed at the cursor. At the end of a line it would wrap.
    const home = drawn.length === 0 ? '' : control('\u001b[1G');
    stream.write(`${clear}${above}${note}${drawn.map(({ text }) => text).join('\n')}${home}`);
  };

  return {
    /** False where lines cannot be redrawn, and after a defect in `lines`: then progress must be said in plain lines. */
    get enabled() {
      return enabled;
    },
    /** How many lines can be drawn; 0 where lines cannot be redrawn. */
    get rows() {
      return enabled ? rowsOf(stream) : 0;
    },
    /** Draws the lines that `lines` returns for a width and a height, now and every second. */
    show(lines: DrawnLines): void {
      if (!enabled) return;
      current = lines;
      draw();
      if (enabled) timer ??= setInterval(draw, redrawMs).unref();
    },
    /** Writes a whole line above the redrawn lines. */
    printAbove(text: string): void {
      if (enabled) draw(`${text}\n`);
      else stream.write(`${text}\n`);
    },
    /** Removes the redrawn lines. */
    close(): void {
      end();
      if (drawn.length > 0) draw();
    },
  };
}

/** A line of text, cut to the width. */
export function textLine(text: string, width: number): ScreenLine {
  const cut = cutToWidth(oneLine(text), width);
  return { text: cut, width: displayWidth(cut) };
}

function columnsOf(stream: OutputStream): number {
  return Math.max(20, stream.columns || 80);
}

/** One line stays free for the cursor and what a person types, one for what stands above. */
export function rowsOf(stream: OutputStream): number {
  return Math.max(1, (stream.rows || 24) - 2);
}
