/** Reads items from JSONL. Each line is a prompt as a string, or an object with the fields in `item-fields.ts`. */
import { repeatedField } from '../contract/texts/lost-fields.js';
import { itemOfRecord } from './item-fields.js';
import { type ItemLine, ItemsError, type ReadLinesOptions } from './item-line.js';
import { readLines } from './lines.js';

/** Skips blank lines. @throws ItemsError */
export async function* readJsonlLines(
  file: string,
  content: AsyncIterable<string | Uint8Array>,
  options: ReadLinesOptions,
): AsyncGenerator<ItemLine> {
  for await (const { number, text } of readLines(file, content)) {
    if (text.trim() === '') continue;
    const value = parse(file, number, text);
    const repeated = repeatedField(text);
    if (repeated !== undefined) {
      throw new ItemsError({ file, line: number }, `the field ${repeated} occurs twice in one object. Give it once.`);
    }
    const record = typeof value === 'string' ? { prompt: value } : value;
    if (typeof record !== 'object' || record === null || Array.isArray(record)) {
      throw new ItemsError({ file, line: number }, 'a line must be a string or an object.');
    }
    yield itemOfRecord({ file, line: number }, record as Readonly<Record<string, unknown>>, {
      ...options,
      otherFields: 'refuse',
    });
  }
}

function parse(file: string, line: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const what = message.replace(/,? (?:\.\.\.)?".*" is not valid JSON$|,? ?in JSON at position.*$/s, '');
    throw new ItemsError({ file, line, column: brokenAt(text) + 1 }, `invalid JSON: ${what}.`, { cause });
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
