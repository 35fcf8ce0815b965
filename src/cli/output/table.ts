/** Prints lists as plain columns or as JSON. */
import type { CliIo } from '../io.js';
import { printJson } from './json.js';
import { oneLine } from './terminal-safe.js';

export interface ListText<Row> {
  readonly header: readonly string[];
  readonly cells: (row: Row) => readonly string[];
  /** What is printed on stderr if there are no rows. */
  readonly none: string;
}

/** @param list an object with one field, whose key is the name of the list in JSON and whose value is the rows */
export function printList<Row>(
  { stdout, stderr }: Pick<CliIo, 'stdout' | 'stderr'>,
  json: boolean | undefined,
  list: Readonly<Record<string, readonly Row[]>>,
  { header, cells, none }: ListText<Row>,
): void {
  const rows = Object.values(list).flat();
  if (json) printJson(stdout, { ...list, error: null });
  else if (rows.length === 0) stderr.write(`${none}\n`);
  else stdout.write(formatTable(header, rows.map(cells)));
}

/**
 * A longer cell shifts only the rest of its own row: padding every row to a cell of a megabyte would fill the memory.
 */
const widestColumn = 100;

/** Formats left-aligned columns, two spaces apart. The last column is not padded. Line ends in cells become spaces. */
export function formatTable(header: readonly string[], texts: readonly (readonly string[])[]): string {
  const rows = texts.map((cells) => cells.map(oneLine));
  const widths = header.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, Math.min(widestColumn, (row[column] ?? '').length)), title.length),
  );
  return [header, ...rows]
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))))
    .map((cells) => `${cells.join('  ')}\n`)
    .join('');
}
