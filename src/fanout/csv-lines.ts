/** Reads items from CSV or TSV with a header line. */
import { splitPair } from '../texts/path-pair.js';
import { readCsvRows } from './csv-rows.js';
import { itemOfRecord } from './item-fields.js';
import { type ItemLine, ItemsError, type ReadLinesOptions } from './item-line.js';

type ReadCsvOptions = ReadLinesOptions & Parameters<typeof readCsvRows>[2];

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
    if (header === undefined) {
      header = headerOf(file, line, cells, options);
      continue;
    }
    const named = namedCells(file, line, header, cells);
    const record = Object.fromEntries(named.map(([name, cell]) => [name, fieldOf(file, line, name, cell)]));
    const columns = new Map(named.map(([name, cell]) => [name, textOf(cell)]));
    yield itemOfRecord({ file, line }, record, { ...options, columns, otherFields: 'label' });
  }
}

/** The names of the columns; empty for a column without a name. */
function headerOf(file: string, line: number, cells: readonly string[], { template }: ReadLinesOptions): string[] {
  const names = cells.map((cell) => cell.trim());
  const known = names.filter((name) => name !== '');
  const twice = known.find((name, index) => known.indexOf(name) !== index);
  if (twice !== undefined)
    throw new ItemsError({ file, line }, `the column ${twice} occurs twice. Rename one of them.`);
  // An export without names: the first record would be lost. Pandas numbers columns without names from 0.
  const number = names.findIndex(
    (name, index) => /^\d+$/.test(name) && index - Number(name) !== 0 && index - Number(name) !== 1,
  );
  if (number >= 0) {
    const why = `the first line seems to be a record: column ${number + 1} is called ${names[number]}. Write a line with the names of the columns before it.`;
    throw new ItemsError({ file, line }, why);
  }
  if (!template && !names.includes('prompt')) {
    // A title above the names, or a file with other separators.
    const way =
      known.length === 1 && /[^\p{L}\p{N}_]/u.test(`${known[0]}`)
        ? 'If each line is a prompt, use --format text. If this line is a title, remove the lines above the names of the columns. If another sign separates the cells, name it in a line before this one, like sep=^.'
        : `Build prompts from them: --prompt "… {{${known[0]}}}".`;
    throw new ItemsError({ file, line }, `the column prompt is missing; the columns are ${known.join(', ')}. ${way}`);
  }
  return names;
}

/**
 * Leaves out columns without a name: the index that pandas writes first, and the empty ones that spreadsheets add.
 * @throws ItemsError if any other has text
 */
function namedCells(
  file: string,
  line: number,
  header: readonly string[],
  cells: readonly string[],
): (readonly [name: string, cell: string])[] {
  const lost = header.findIndex((name, column) => name === '' && column > 0 && textOf(cells[column]) !== '');
  if (lost >= 0) {
    const why = `column ${lost + 1} has text, but no name. Name it in the first line; if that is a title, remove the lines above the names of the columns.`;
    throw new ItemsError({ file, line }, why);
  }
  return header.flatMap((name, column) => (name === '' ? [] : [[name, cells[column] ?? ''] as const]));
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

function putOf(file: string, line: number, cell: string): Record<string, string> | string {
  const locals = new Map<string, string>();
  for (const pair of listOf(cell)) {
    const [local, remote] = splitPair(pair);
    if (local === '' || !remote) return cell;
    if (locals.has(remote)) throw new ItemsError({ file, line }, `put: two files have the path ${remote} in the fork.`);
    locals.set(remote, local);
  }
  return Object.fromEntries(locals);
}
