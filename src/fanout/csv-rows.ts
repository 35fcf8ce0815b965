/** Reads the records of CSV (RFC 4180, or as spreadsheets write it) or TSV, each with the line on which it begins. */
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ItemsError } from './item-line.js';
import { decode, maxItemBytes, refuseCrLines, tooLongText } from './lines.js';

const delimiterNames: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' };
/** How much is read to find out what separates the cells, in characters. */
const longestSample = 1_000_000;

interface CsvRow {
  /** From 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Skips blank lines, and rows without text: spreadsheets write them for lines that once had content.
 * @param options `likely`: what separates the cells if the first lines do not show it
 * @throws ItemsError
 */
export async function* readCsvRows(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
  { likely }: { readonly likely: string },
): AsyncGenerator<CsvRow> {
  // Lines are counted in the parser and not in the loop below, because an error discards parsed records that the loop
  // has not read yet.
  const begins: number[] = [];
  // The parser counts a CRLF within quotes as two lines.
  let countedTwice = 0;
  let lastEnd = 0;
  const { delimiter, rest } = await withDelimiter(file, decode(file, content), likely);
  const parser = parse({
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n'],
    delimiter,
    // The width is checked below: spreadsheets add empty cells.
    relax_column_count: true,
    max_record_size: maxItemBytes,
    on_record(cells, { lines }) {
      countedTwice += count(cells, '\r\n');
      lastEnd = lines - countedTwice;
      begins.push(lastEnd - count(cells, '\n'));
      return cells;
    },
  });
  // The loop over `parser` receives the errors of the pipeline, so its callback ignores them.
  pipeline(Readable.from(rest), parser, () => undefined);
  try {
    let width: number | undefined;
    for await (const cells of parser as AsyncIterable<readonly string[]>) {
      const line = begins.shift() ?? 1;
      if (cells.every(isBlank)) continue;
      width ??= cells.length;
      if (cells.length < width || !cells.slice(width).every(isBlank)) {
        const name = delimiterNames[delimiter] ?? delimiter;
        const title = width === 1 ? ', or remove the title above the names of the columns' : '';
        const way =
          cells.length < width
            ? `Write a ${name} for each empty cell`
            : `Quote each cell that contains a ${name}${title}`;
        const why = `this record has ${cells.length} cells, but the header has ${width}. ${way}.`;
        throw new ItemsError({ file, line }, why);
      }
      yield { line, cells };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = error.code === 'CSV_QUOTE_NOT_CLOSED' ? lastEnd + 1 : Number(error.lines ?? 1) - countedTwice;
    throw new ItemsError({ file, line }, explain(error), { cause: error });
  }
}

/**
 * Finds what separates the cells. Excel's line `sep=;` says it; else the first lines show it.
 * @returns also the whole content, without the text of such a line
 * @throws ItemsError if several signs may separate the cells
 */
async function withDelimiter(
  file: string,
  pieces: AsyncGenerator<string>,
  likely: string,
): Promise<{ readonly delimiter: string; readonly rest: AsyncIterable<string> }> {
  let read = '';
  while (linesOf(read).length <= sampledLines && read.length <= longestSample) {
    const { done, value } = await pieces.next();
    if (done) break;
    read += value;
  }
  const named = /^\s*"?sep=([^\r\n])"?\r?(?:\n|$)/i.exec(read);
  if (named) read = read.replace(/"?sep=."?/i, '');
  const rest = async function* () {
    yield read;
    yield* pieces;
  };
  const [header = '', ...data] = linesOf(read).slice(0, sampledLines);
  refuseCrLines(file, header);
  return { delimiter: named?.[1] ?? delimiterOf(file, { header, data, likely }), rest: rest() };
}

/** The header, and rows that have as many cells. */
const sampledLines = 3;

/** The lines without quoted texts, which may contain anything. */
function linesOf(text: string): string[] {
  return text
    .trimStart()
    .replace(/"[^"]*"?/g, '""')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
}

/** Spreadsheets write semicolons in countries where a comma begins the decimals. @throws ItemsError */
function delimiterOf(
  file: string,
  { header, data, likely }: { readonly header: string; readonly data: readonly string[]; readonly likely: string },
): string {
  if (header.includes('\t')) return '\t';
  if (header.startsWith('|')) {
    const why = 'this looks like a table of Markdown. Save it as CSV, without its line of dashes and the outer bars.';
    throw new ItemsError({ file, line: 1 }, why);
  }
  const there = Object.keys(delimiterNames).filter((one) => header.includes(one));
  const width = (line: string, one: string) => line.split(one).length;
  const even = there.filter((one) => data.every((line) => isBlank(line) || width(line, one) === width(header, one)));
  const possible = even.length > 0 ? even : there;
  const withPrompt = possible.filter((one) => header.split(one).some((name) => name.trim() === 'prompt'));
  const [delimiter = likely, other] = possible.length > 1 && withPrompt.length > 0 ? withPrompt : possible;
  if (other === undefined) return delimiter;
  const names = possible.map((one) => `${delimiterNames[one]}s`).join(' and ');
  const why = `${names} may separate its cells. Say which in a line before the first: sep=${delimiter}`;
  throw new ItemsError({ file, line: 1 }, why);
}

function isBlank(cell: string): boolean {
  return cell.trim() === '';
}

function count(cells: readonly string[], end: string): number {
  return cells.reduce((sum, cell) => sum + cell.split(end).length - 1, 0);
}

function explain({ code, message }: CsvError): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a cell of this record begins with a quote but has no closing quote.';
    case 'INVALID_OPENING_QUOTE':
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'an unquoted cell contains a quote. Quote the cell and double the quotes in it: "say ""hello""".';
    case 'CSV_MAX_RECORD_SIZE':
      return tooLongText('record');
    default:
      return `invalid CSV: ${message}.`;
  }
}
