/** Prints lists as plain columns or as JSON. */
import type { CliIo, OutputStream } from '../io.js';
import { cutToWidth, displayWidth, wrapWords } from './display-width.js';
import { printJson } from './json.js';
import { createPaint, type Paint } from './terminal.js';
import { oneLine } from './terminal-safe.js';

export interface ListText<Row> {
  readonly header: readonly string[];
  readonly cells: (row: Row) => readonly string[];
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
  /** Adds colours to a cell, but not to the last of a row. Default: none. */
  readonly paintCell?: PaintCell;
}

/** @param row from 0, without the header */
type PaintCell = (text: string, row: number, column: number) => string;

/** The width of a terminal; undefined for files and pipes. */
export function tableWidth({ isTTY, columns = 80 }: OutputStream): number | undefined {
  return isTTY ? columns : undefined;
}

/** @param list an object with one field, whose key is the name of the list in JSON and whose value is the rows */
export function printList<Row>(
  { stdout, stderr }: Pick<CliIo, 'stdout' | 'stderr'>,
  json: boolean | undefined,
  list: Readonly<Record<string, readonly Row[]>>,
  { header, cells, none, last, colours }: ListText<Row>,
): void {
  const rows = Object.values(list).flat();
  if (json) printJson(stdout, { ...list, error: null });
  else if (rows.length === 0) stderr.write(`${none}\n`);
  else {
    const paint = createPaint(stdout);
    const ofRows = colours ? rows.map(colours) : [];
    const paintCell: PaintCell = (text, row, column) => {
      const colour = ofRows[row]?.[column];
      return colour ? paint(colour, text) : text;
    };
    stdout.write(formatTable(header, rows.map(cells), { width: tableWidth(stdout), last, paintCell }));
  }
}

/**
 * A longer cell shifts only the rest of its own row: padding every row to a cell of a megabyte would fill the memory.
 */
const widestColumn = 100;

/** The last column continues below itself if it has this much room, otherwise below its row. */
const leastRoom = 24;
const belowRow = 4;

/**
 * Formats left-aligned columns, two spaces apart. The last column is not padded. Line ends in cells become spaces. Columns
 * that do not fit the terminal continue below, in every row and in the header.
 */
export function formatTable(
  header: readonly string[],
  texts: readonly (readonly string[])[],
  fit: TableFit = { width: undefined },
): string {
  const rows = texts.map((cells) => cells.map(oneLine));
  const widths = header.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, Math.min(widestColumn, (row[column] ?? '').length)), title.length),
  );
  const starts = [0, ...breaksOf(widths.slice(0, -1), fit.width)];
  return [header, ...rows]
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
    return `${paintCell(cell, column)}${' '.repeat(Math.max(0, (widths[column] ?? 0) - cell.length))}  `;
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
  if (last === 'cut') return before + cutToWidth(cell, Math.max(belowRow, room));
  if (room >= leastRoom) return before + wrapWords(cell, room).join(`\n${' '.repeat(indent)}`);
  const below = `\n${' '.repeat(belowRow)}`;
  return [before.trimEnd(), ...wrapWords(cell, Math.max(leastRoom, width - belowRow))].join(below);
}
