/** Reads the records of CSV (RFC 4180, or as spreadsheets write it) or TSV, each with the line on which it begins. */
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ItemsError } from './item-line.js';
import { decode, maxItemBytes, refuseCrLines, tooLongText } from './lines.js';

const delimiterNames = { ',': 'comma', ';': 'semicolon', '\t': 'tab' } as const;
type Delimiter = keyof typeof delimiterNames;

interface CsvRow {
  /** From 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Skips blank lines.
 * @throws ItemsError
 */
export async function* readCsvRows(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
  options: { readonly delimiter: '\t' | 'of the header' },
): AsyncGenerator<CsvRow> {
  // Lines are counted in the parser and not in the loop below, because an error discards parsed records that the loop
  // has not read yet.
  const begins: number[] = [];
  // The parser counts a CRLF within quotes as two lines.
  let countedTwice = 0;
  let lastEnd = 0;
  const pieces = decode(file, content, () => lastEnd + 1);
  const { header, rest } = await readHeader(pieces);
  refuseCrLines(file, header);
  const delimiter = options.delimiter === '\t' ? '\t' : delimiterOf(header);
  const parser = parse({
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n'],
    delimiter,
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
    for await (const cells of parser as AsyncIterable<readonly string[]>) yield { line: begins.shift() ?? 1, cells };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = error.code === 'CSV_QUOTE_NOT_CLOSED' ? lastEnd + 1 : Number(error.lines ?? 1) - countedTwice;
    throw new ItemsError({ file, line }, explain(error, delimiter), { cause: error });
  }
}

/**
 * Reads the first line that is not blank.
 * @returns the line, without its end and its quoted names, and the whole content, that line included
 */
async function readHeader(
  pieces: AsyncGenerator<string>,
): Promise<{ readonly header: string; readonly rest: AsyncIterable<string> }> {
  let read = '';
  while (!read.trimStart().includes('\n') && read.length <= maxItemBytes) {
    const { done, value } = await pieces.next();
    if (done) break;
    read += value;
  }
  const rest = async function* () {
    yield read;
    yield* pieces;
  };
  const header = (read.trimStart().split('\n', 1)[0] ?? '').replace(/"[^"]*"?/g, '');
  return { header: header.replace(/\r$/, ''), rest: rest() };
}

/** Spreadsheets write semicolons in countries where a comma begins the decimals. */
function delimiterOf(header: string): Delimiter {
  return ([',', ';', '\t'] as const).find((one) => header.includes(one)) ?? ',';
}

function count(cells: readonly string[], end: string): number {
  return cells.reduce((sum, cell) => sum + cell.split(end).length - 1, 0);
}

function explain({ code, message }: CsvError, delimiter: Delimiter): string {
  switch (code) {
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH': {
      const [, expected, got] = /expect (\d+), got (\d+)/.exec(message) ?? [];
      return `the record that ends here has ${got} cells, but the header has ${expected}. Quote each cell that contains a ${delimiterNames[delimiter]}.`;
    }
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
