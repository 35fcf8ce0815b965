/** Reads items from CSV or TSV with a header line. */
import { readCsvRows } from './csv-rows.js';
import { itemOfRecord } from './item-fields.js';
import { type ItemLine, ItemsError, type ReadLinesOptions } from './item-line.js';

interface ReadCsvOptions extends ReadLinesOptions {
  readonly delimiter: Parameters<typeof readCsvRows>[2]['delimiter'];
}

/**
 * An empty cell means that the item does not have this field. A `put` cell holds `LOCAL:REMOTE` pairs and a `get` cell
 * holds paths; semicolons separate several of them.
 * @throws ItemsError
 */
export async function* readCsvLines(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
  options: ReadCsvOptions,
): AsyncGenerator<ItemLine> {
  let header: readonly string[] | undefined;
  for await (const { line, cells } of readCsvRows(file, content, options)) {
    // Spreadsheets write such rows for lines that once had content.
    if (cells.every((cell) => cell.trim() === '')) continue;
    if (header === undefined) {
      header = headerOf(file, line, cells, options);
      continue;
    }
    const record = recordOf(file, line, header, cells);
    const columns = new Map(header.map((name, column) => [name, textOf(cells[column])]));
    yield itemOfRecord({ file, line }, record, { ...options, columns, otherFields: 'label' });
  }
}

function headerOf(file: string, line: number, cells: readonly string[], { template }: ReadLinesOptions): string[] {
  const names = cells.map((cell) => cell.trim());
  const column = names.findIndex((name, index) => name === '' || names.indexOf(name) !== index);
  if (column >= 0) {
    const what = names[column] === '' ? `column ${column + 1} has no name` : `the column ${names[column]} occurs twice`;
    throw new ItemsError({ file, line }, `${what}. The first line names the columns.`);
  }
  if (!template && !names.includes('prompt')) {
    throw new ItemsError(
      { file, line },
      `the column prompt is missing; the columns are ${names.join(', ')}. Build prompts from them: --prompt "… {{${names[0]}}}".`,
    );
  }
  return names;
}

function recordOf(
  file: string,
  line: number,
  header: readonly string[],
  cells: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(header.map((name, column) => [name, fieldOf(file, line, name, cells[column] ?? '')]));
}

function textOf(cell = ''): string {
  return cell.trim() === '' ? '' : cell;
}

function fieldOf(file: string, line: number, name: string, cell: string): unknown {
  // An empty `prompt` cell is a mistake. Any other empty cell is an absent field, which a template may still name.
  if (cell.trim() === '' && name !== 'prompt') return undefined;
  if (name === 'get') return listOf(cell);
  return name === 'put' ? putOf(file, line, cell) : cell;
}

function listOf(cell: string): string[] {
  return cell
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function putOf(file: string, line: number, cell: string): Record<string, string> {
  const locals = new Map<string, string>();
  for (const pair of listOf(cell)) {
    const colon = pair.lastIndexOf(':');
    if (colon < 1 || colon === pair.length - 1) {
      throw new ItemsError({ file, line }, `put: "${pair}" is not LOCAL:REMOTE, like report.csv:data/report.csv.`);
    }
    const remote = pair.slice(colon + 1);
    if (locals.has(remote)) throw new ItemsError({ file, line }, `put: two files have the path ${remote} in the fork.`);
    locals.set(remote, pair.slice(0, colon));
  }
  return Object.fromEntries(locals);
}
