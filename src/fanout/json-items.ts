/** Reads items from JSONL, or from one JSON list. Each is a prompt as a string, or an object (`item-fields.ts`). */
import { fieldsAsWritten, parseWithTextNumbers } from '../texts/json-tokens.js';
import { repeatedField } from '../texts/lost-fields.js';
import { itemOfRecord } from './item-fields.js';
import { type ItemLine, type ItemPlace, ItemsError, type ReadLinesOptions } from './item-line.js';
import { decode, maxItemBytes, readLines, tooLongText } from './lines.js';

const shapeText = 'an item must be a string or an object.';
const listText = 'For a file that is one JSON list, use --format json.';

/** Skips blank lines. @throws ItemsError */
export async function* readJsonlLines(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
  options: ReadLinesOptions & Pick<JsonOptions, 'itemOf'>,
): AsyncGenerator<ItemLine> {
  const cutText = ` In JSONL, each item is on one line, as \`jq -c\` prints it. ${listText}`;
  for await (const { number: line, text } of readLines(file, content)) {
    if (text.trim() === '') continue;
    if (text.trimStart().startsWith('[')) throw new ItemsError({ file, line }, `${shapeText} ${listText}`);
    yield itemOfJson({ file, line, column: 1 }, text, { ...options, cutText });
  }
}

/** @throws ItemsError */
export async function* readJsonList(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
  options: ReadLinesOptions,
): AsyncGenerator<ItemLine> {
  for await (const { place, text } of readJsonEntries(file, content)) {
    yield itemOfJson(place, text, { ...options, cutText: '' });
  }
}

interface JsonOptions extends ReadLinesOptions {
  /** Added to the message about a text that ends too early. */
  readonly cutText: string;
  /** Makes the item of a record of another program. Default: the record is an item. */
  readonly itemOf?: RecordReader;
}

/** @param record its numbers are texts. @throws ItemsError */
export type RecordReader = (
  place: ItemPlace,
  record: Readonly<Record<string, unknown>>,
  columns: ReadonlyMap<string, string>,
) => ItemLine;

function itemOfJson(begin: Required<ItemPlace>, text: string, options: JsonOptions): ItemLine {
  const place = { file: begin.file, line: begin.line };
  const value = parse(begin, text, options);
  const repeated = repeatedField(text);
  if (repeated !== undefined) {
    throw new ItemsError(place, `the field ${repeated} occurs twice in one object. Give it once.`);
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject && typeof value !== 'string') throw new ItemsError(place, shapeText);
  const object = isObject ? text : JSON.stringify({ prompt: value });
  const columns = [...fieldsAsWritten(object)].map(([name, written]) => [name, columnOf(written)] as const);
  const record = parseWithTextNumbers(object) as Readonly<Record<string, unknown>>;
  if (options.itemOf) return options.itemOf(place, record, new Map(columns));
  return itemOfRecord(place, record, { ...options, columns: new Map(columns), otherFields: 'refuse' });
}

function columnOf(written: string): string {
  if (written === 'null') return '';
  return written.startsWith('"') ? (JSON.parse(written) as string) : written;
}

function parse({ file, line, column }: Required<ItemPlace>, text: string, { cutText }: JsonOptions): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const what = message.replace(/,? (?:\.\.\.)?".*" is not valid JSON$|,? ?in JSON at position.*$/s, '');
    const at = brokenAt(text);
    const lines = text.slice(0, at).split('\n');
    const place = {
      file,
      line: line + lines.length - 1,
      column: (lines.length === 1 ? column : 1) + (lines.at(-1)?.length ?? 0),
    };
    const way = text[at] === ',' ? ' Remove the comma at the end of the line.' : at === text.length ? cutText : '';
    throw new ItemsError(place, `invalid JSON: ${what}.${way}`, { cause });
  }
}

/**
 * Length of the longest beginning of `text` that can still become JSON. Only some versions of Node report this
 * position.
 */
function brokenAt(text: string): number {
  let good = 0;
  let broken = text.length + 1;
  while (broken - good > 1) {
    const middle = Math.floor((good + broken) / 2);
    if (isBeginOfJson(text.slice(0, middle))) good = middle;
    else broken = middle;
  }
  return good;
}

function isBeginOfJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    // A text whose only error is at its end may be the beginning of valid JSON.
    return /end of JSON/.test(message) || Number(/at position (\d+)/.exec(message)?.[1]) >= text.length;
  }
}

const noListText =
  'the file is not a JSON list. If each line is an item, use --format jsonl. If a field holds the list, take it out: jq .FIELD FILE > NEW_FILE';

/**
 * Splits a JSON list into its entries without ever holding more than one entry.
 * @throws ItemsError if the content is not one list, or is not UTF-8, or if an entry is longer than an item may be
 */
async function* readJsonEntries(file: string, content: AsyncIterable<string | Uint8Array>) {
  let line = 1;
  let column = 0;
  let part: 'before' | 'within' | 'after' = 'before';
  let depth = 0;
  let string: 'none' | 'open' | 'escaped' = 'none';
  let begin: Required<ItemPlace> | undefined;
  let held = '';
  let entries = 0;
  const refuse = (why: string): never => {
    throw new ItemsError({ file, line, column }, why);
  };

  for await (const piece of decode(file, content)) {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const letter = piece[at] as string;
      if (letter === '\n') [line, column] = [line + 1, 0];
      else column += 1;
      if (begin === undefined && /\s/.test(letter)) continue;
      if (part === 'after') refuse('the list has ended, but the file goes on. Remove the rest.');
      if (part === 'before') {
        if (letter !== '[') refuse(noListText);
        part = 'within';
      } else if (string === 'none' && depth === 0 && (letter === ',' || letter === ']')) {
        if (letter === ']') part = 'after';
        if (begin !== undefined) yield { place: begin, text: (held + piece.slice(from, at)).trimEnd() };
        else if (letter === ',' || entries > 0) refuse('an entry of the list is missing. Remove a comma.');
        begin = undefined;
        held = '';
        entries += 1;
      } else {
        if (begin === undefined) [begin, from] = [{ file, line, column }, at];
        if (string === 'escaped') string = 'open';
        else if (letter === '"') string = string === 'open' ? 'none' : 'open';
        else if (string === 'open') string = letter === '\\' ? 'escaped' : 'open';
        else if (letter === '{' || letter === '[') depth += 1;
        else if (letter === '}' || letter === ']') depth -= 1;
      }
    }
    if (begin !== undefined) held += piece.slice(from);
    if (held.length > maxItemBytes) refuse(tooLongText('entry'));
  }
  if (part === 'within') refuse('the list is not closed. Add ] at its end.');
}
