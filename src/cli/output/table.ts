/** Plain columns. */
import { oneLine } from './terminal-safe.js';

/** Left-aligned columns, two spaces apart; the last one is not padded. Every cell stays in its line. */
export function formatTable(header: readonly string[], texts: readonly (readonly string[])[]): string {
  const rows = texts.map((cells) => cells.map(oneLine));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  return [header, ...rows]
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))))
    .map((cells) => `${cells.join('  ')}\n`)
    .join('');
}
