/**
 * The only way to the terminal. What is written as a string is made safe, wherever it came from; the control sequences that this
 * program itself writes are told apart by a mark that no text of others can hold, since it is new in every process.
 */
import { randomBytes } from 'node:crypto';
import type { OutputStream } from '../io.js';
import { terminalSafe } from './terminal-safe.js';

const escapeCharacter = '\u001b';
const mark = `\u{10fffe}${randomBytes(16).toString('hex')}`;

/** Lets control sequences of ours through; every ESC in `sequences` counts as one. */
export function control(sequences: string): string {
  return sequences.replaceAll(escapeCharacter, mark);
}

/**
 * Strings are made safe on terminals, in pipes and in files alike: a log may be shown on a terminal later. Bytes pass through
 * unchanged, except on a terminal, where they are made safe too.
 */
export function createTerminal(stream: OutputStream): OutputStream {
  const shown = (text: string | Uint8Array): string =>
    terminalSafe(typeof text === 'string' ? text : Buffer.from(text).toString()).replaceAll(mark, escapeCharacter);
  return {
    write: (text) => stream.write(typeof text === 'string' || stream.isTTY ? shown(text) : text),
    once: (event, listener) => stream.once?.(event, listener),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
    hasColors: () => stream.hasColors?.() === true,
  };
}
