/** Prints lists as plain columns or as JSON. */
import type { CliIo, OutputStream } from '../io.js';
import { cutToWidth, displayWidth, wrapWords } from './display-width.js';
import { printJson } from './json.js';
import { oneLine } from './terminal-safe.js';

export interface ListText<Row> {
  readonly header: readonly string[];
  readonly cells: (row: Row) => readonly string[];
  /** What is printed on stderr if there are no rows. */
  readonly none: string;
  readonly last?: TableFit['last'];
}

/** How a table fits a terminal. */
export interface TableFit {
  /** Columns of the terminal; undefined elsewhere, where no row is fitted. */
  readonly width: number | undefined;
  /** What happens to the last cell of a row that is too wide. Default: it continues on further lines. */
  readonly last?: 'wrap' | 'cut';
}

/** The width of a terminal; undefined for files and pipes. */
export function tableWidth({ isTTY, columns = 80 }: OutputStream): number | undefined {
  return isTTY ? columns : undefined;
}

/** @param list an object with one field, whose key is the name of the list in JSON and whose value is the rows */
export function printList<Row>(
  { stdout, stderr }: Pick<CliIo, 'stdout' | 'stderr'>,
  json: boolean | undefined,
  list: Readonly<Record<string, readonly Row[]>>,
  { header, cells, none, last }: ListText<Row>,
): void {
  const rows = Object.values(list).flat();
  if (json) printJson(stdout, { ...list, error: null });
  else if (rows.length === 0) stderr.write(`${none}\n`);
  else stdout.write(formatTable(header, rows.map(cells), { width: tableWidth(stdout), last }));
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
    .map((row) => {
      const padded = row.slice(0, -1).map((cell, column) => `${cell.padEnd(widths[column] ?? 0)}  `);
      const lines = starts.map((start, line) => {
        const indent = ' '.repeat(line === 0 ? 0 : belowRow);
        return indent + padded.slice(start, starts[line + 1]).join('');
      });
      const above = lines.slice(0, -1).map((line) => `${line.trimEnd()}\n`);
      return `${above.join('')}${fitted(lines.at(-1) ?? '', row.at(-1) ?? '', fit)}\n`;
    })
    .join('');
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

function fitted(before: string, cell: string, { width, last }: TableFit): string {
  const indent = displayWidth(before);
  const room = (width ?? 0) - indent;
  if (width === undefined || displayWidth(cell) <= room) return before + cell;
  if (last === 'cut') return before + cutToWidth(cell, Math.max(belowRow, room));
  if (room >= leastRoom) return before + wrapWords(cell, room).join(`\n${' '.repeat(indent)}`);
  const below = `\n${' '.repeat(belowRow)}`;
  return [before.trimEnd(), ...wrapWords(cell, Math.max(leastRoom, width - belowRow))].join(below);
}
