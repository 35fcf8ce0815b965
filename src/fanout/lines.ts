/** Splits a stream into lines without ever holding more than one line. */
import { ItemsError } from './item-line.js';

/** Limit of one item, which must fit in one message. Longer texts go into files. */
export const maxItemBytes = 16_000_000;

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without its line end. */
  readonly text: string;
}

/**
 * Reads UTF-8 lines that end in LF or CRLF, and removes a byte order mark.
 * @throws ItemsError if the content is not UTF-8, if its lines end in CR only, or if a line is longer than an item may
 *   be
 */
export async function* readLines(file: string, content: AsyncIterable<string | Uint8Array>): AsyncGenerator<Line> {
  let number = 1;
  let held: string[] = [];
  let heldLength = 0;

  const finish = (tail: string): Line => {
    const text = held.length === 0 ? tail : held.join('') + tail;
    held = [];
    heldLength = 0;
    const line = { number, text: text.endsWith('\r') ? text.slice(0, -1) : text };
    number += 1;
    return line;
  };

  for await (const piece of decode(file, content)) {
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      yield finish(piece.slice(from, end));
      from = end + 1;
    }
    if (from === piece.length) continue;
    held.push(piece.slice(from));
    heldLength += piece.length - from;
    if (heldLength <= maxItemBytes) continue;
    if (number === 1) refuseCrLines(file, held.join(''));
    throw new ItemsError({ file, line: number }, tooLongText('line'));
  }
  if (held.length === 0) return;
  const last = finish('');
  if (last.number === 1) refuseCrLines(file, last.text);
  yield last;
}

/**
 * Such a file would be read as one line. Beside other line ends, a CR is content.
 * @param firstLine without its line end
 * @throws ItemsError if a CR separates lines in it
 */
export function refuseCrLines(file: string, firstLine: string): void {
  if (!firstLine.includes('\r')) return;
  throw new ItemsError(
    { file, line: 1 },
    "its lines end in CR only, as on old Macs. Save the file with LF or CRLF, or convert it: tr '\\r' '\\n' < FILE > NEW_FILE",
  );
}

/**
 * Decodes bytes to text. A character may span two pieces.
 * @throws ItemsError if the content is not UTF-8, or has a NUL character, which no prompt may have
 */
export async function* decode(file: string, content: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let first: number | undefined;
  let ends = 0;
  const text = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (cause) {
      const what = first === 0xff || first === 0xfe ? 'is UTF-16' : 'is not UTF-8 text';
      throw new ItemsError({ file, line: 1 + ends }, `this ${what}. Save the file as UTF-8.`, { cause });
    }
  };
  for await (const piece of content) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    first ??= bytes[0];
    const decoded = text(bytes);
    const nul = decoded.indexOf('\0');
    if (nul >= 0) {
      const at = { file, line: 1 + ends + endsIn(decoded.slice(0, nul)) };
      throw new ItemsError(at, 'this line has a NUL character. Remove it, or save the file as text in UTF-8.');
    }
    ends += endsIn(decoded);
    yield decoded;
  }
  yield text();
}

const endsIn = (text: string) => text.split('\n').length - 1;

export function tooLongText(what: 'line' | 'record' | 'entry' | 'file'): string {
  return `this ${what} exceeds the limit of ${maxItemBytes} bytes for an item. Put long texts into files, and write these into the fork with put.`;
}
