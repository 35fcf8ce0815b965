/** Prints lists as plain columns or as JSON. */
import type { CliIo, OutputStream } from '../io.js';
import { cutToWidth, displayWidth, wrapWords } from './display-width.js';
import { printJson } from './json.js';
import { createPaint, type Paint } from './terminal.js';
import { oneLine } from './terminal-safe.js';

export interface ListText<Row> {
  /** One field: the name of the list in JSON, and its rows. */
  readonly list: Readonly<Record<string, readonly Row[]>>;
  readonly header: readonly string[];
  readonly cells: (row: Row) => readonly string[];
  /** Further fields of the JSON object. Default: none. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** What is printed on stderr if there are no rows. */
  readonly none: string;
  readonly last?: TableFit['last'];
  /** The colours of the cells of a row, by column; null is none. Default: no colours. */
  readonly colours?: (row: Row) => readonly (Parameters<Paint>[0] | null)[];
}

/** How a table fits a terminal. */
export interface TableFit {
  /** Columns of the terminal; undefined elsewhere, where no row is fitted. */
  readonly width: number | undefined;
  /** What happens to the last cell of a row that is too wide. Default: it continues on further lines. */
  readonly last?: 'wrap' | 'cut';
  /** True if other cells than those of the first column may be cut, so that each row begins on one line. Default: false. */
  readonly cuts?: boolean;
  /** Adds colours to a cell, but not to the last of a row. Default: none. */
  readonly paintCell?: PaintCell;
}

/** @param row from 0, without the header */
type PaintCell = (text: string, row: number, column: number) => string;

/** The width of a terminal; undefined for files and pipes. */
export function tableWidth({ isTTY, columns = 80 }: OutputStream): number | undefined {
  return isTTY ? columns : undefined;
}

export function printList<Row>(
  { stdout, stderr }: Pick<CliIo, 'stdout' | 'stderr'>,
  json: boolean | undefined,
  { list, header, cells, none, last, colours, more }: ListText<Row>,
): void {
  const rows = Object.values(list).flat();
  if (json) printJson(stdout, { ...list, ...more, error: null });
  else if (rows.length === 0) stderr.write(`${none}\n`);
  else {
    const paint = createPaint(stdout);
    const ofRows = colours ? rows.map(colours) : [];
    const paintCell: PaintCell = (text, row, column) => {
      const colour = ofRows[row]?.[column];
      return colour ? paint(colour, text) : text;
    };
    stdout.write(formatTable(header, rows.map(cells), { width: tableWidth(stdout), last, cuts: true, paintCell }));
  }
}

/**
 * A longer cell shifts only the rest of its own row: padding every row to a cell of a megabyte would fill the memory.
 */
const widestColumn = 100;

/** The last column continues below itself if it has this much room, otherwise below its row. */
const leastRoom = 24;
const belowRow = 4;

/** No column is cut to less: its texts would all look the same. */
const narrowest = 8;

/**
 * Formats left-aligned columns, two spaces apart. The last column is not padded. Line ends in cells become spaces. Columns
 * that do not fit the terminal are cut or continue below, in every row and in the header.
 */
export function formatTable(
  header: readonly string[],
  texts: readonly (readonly string[])[],
  fit: TableFit = { width: undefined },
): string {
  const whole = [header, ...texts.map((cells) => cells.map(oneLine))];
  const asked = header.map((_, column) =>
    whole.reduce((widest, row) => Math.max(widest, Math.min(widestColumn, columnsOf(row[column] ?? ''))), 0),
  );
  const widths = fit.cuts ? cutWidths(asked, fit) : asked;
  const rows = widths === asked ? whole : whole.map((row) => cutCells(row, widths));
  const starts = [0, ...breaksOf(widths.slice(0, -1), fit.width)];
  return rows
    .map((row, line) => {
      const paintCell = (cell: string, column: number) =>
        line > 0 && fit.paintCell ? fit.paintCell(cell, line - 1, column) : cell;
      const plain = linesOf(row, { widths, starts, paintCell: (cell) => cell });
      const shown = linesOf(row, { widths, starts, paintCell });
      const above = shown.slice(0, -1).map((text) => `${text.trimEnd()}\n`);
      const indent = displayWidth(plain.at(-1) ?? '');
      return `${above.join('')}${fitted({ before: shown.at(-1) ?? '', indent }, row.at(-1) ?? '', fit)}\n`;
    })
    .join('');
}

/**
 * The widest column is cut first. The first one names what the row is about: a person copies it, so it stays whole. If
 * a row still does not fit, each cell gets a line at most.
 * @returns `asked` if nothing needs to be cut
 */
function cutWidths(asked: readonly number[], { width = Number.POSITIVE_INFINITY, last }: TableFit): readonly number[] {
  const ofLast = Math.min(asked.at(-1) ?? 0, last === 'cut' ? narrowest : leastRoom);
  const over = asked.slice(0, -1).reduce((sum, column) => sum + column + 2, ofLast) - width;
  if (over <= 0) return asked;
  const widths = [...asked];
  for (let left = over; left > 0; left -= 1) {
    const widest = Math.max(...widths.slice(1, -1));
    if (widest <= narrowest) return asked.map((column) => Math.min(column, Math.max(narrowest, width - belowRow)));
    widths[widths.lastIndexOf(widest, -2)] = widest - 1;
  }
  return widths;
}

/** The first and the last cell stay as they are. */
function cutCells(row: readonly string[], widths: readonly number[]): string[] {
  return row.map((cell, column) =>
    column === 0 || column === row.length - 1 ? cell : cutToWidth(cell, widths[column] ?? 0),
  );
}

/** Nobody sees whether the columns after such a long cell are aligned, and measuring it takes time. */
function columnsOf(cell: string): number {
  return cell.length > 10 * widestColumn ? cell.length : displayWidth(cell);
}

/** The lines of a row, without its last cell. */
function linesOf(
  row: readonly string[],
  {
    widths,
    starts,
    paintCell,
  }: {
    readonly widths: readonly number[];
    readonly starts: readonly number[];
    readonly paintCell: (cell: string, column: number) => string;
  },
): string[] {
  const padded = row.slice(0, -1).map((cell, column) => {
    return `${paintCell(cell, column)}${' '.repeat(Math.max(0, (widths[column] ?? 0) - columnsOf(cell)))}  `;
  });
  return starts.map((start, line) => {
    return ' '.repeat(line === 0 ? 0 : belowRow) + padded.slice(start, starts[line + 1]).join('');
  });
}

/** The columns that begin a line below. */
function breaksOf(widths: readonly number[], width = Number.POSITIVE_INFINITY): number[] {
  const breaks: number[] = [];
  let used = 0;
  for (const [column, columnWidth] of widths.entries()) {
    if (used > 0 && used + columnWidth > width) {
      breaks.push(column);
      used = belowRow;
    }
    used += columnWidth + 2;
  }
  return breaks;
}

/** @param indent the width of `before` without its colours */
function fitted(
  { before, indent }: { readonly before: string; readonly indent: number },
  cell: string,
  { width, last }: TableFit,
): string {
  const room = (width ?? 0) - indent;
  if (width === undefined || displayWidth(cell) <= room) return before + cell;
  if (last === 'cut' && room >= narrowest) return before + cutToWidth(cell, room);
  if (last !== 'cut' && room >= leastRoom) return before + wrapWords(cell, room).join(`\n${' '.repeat(indent)}`);
  const below = `\n${' '.repeat(belowRow)}`;
  const roomBelow = Math.max(narrowest, width - belowRow);
  const lines = last === 'cut' ? [cutToWidth(cell, roomBelow)] : wrapWords(cell, roomBelow);
  return [before.trimEnd(), ...lines].join(below);
}
