/**
 * All output goes through this module, which makes every string safe, wherever it comes from: it removes secrets of this
 * process and control characters. A mark identifies the
 * control sequences of this program. The mark is random and new in every process, so that no other text can contain it.
 */
import { randomBytes } from 'node:crypto';
import { styleText } from 'node:util';
import { withoutSecrets } from '../../errors/without-secrets.js';
import type { OutputStream } from '../io.js';
import { terminalSafe } from './terminal-safe.js';

const escapeCharacter = '\u001b';
const mark = `\u{10fffe}${randomBytes(16).toString('hex')}`;

/** Marks control sequences of this program, so that they reach the terminal. Every ESC in `sequences` is marked. */
export function control(sequences: string): string {
  return sequences.replaceAll(escapeCharacter, mark);
}

/** A terminal that says that it has fewer columns does not know how many it has, as in a container or by `stty cols 0`. */
const fewestColumns = 10;

/**
 * Strings are made safe on terminals, in pipes and in files alike: a log may be shown on a terminal later. Bytes are
 * made safe on a terminal only; elsewhere they pass through unchanged.
 */
export function createTerminal(stream: OutputStream, isPlain = false): OutputStream {
  const shown = (text: string | Uint8Array): string =>
    terminalSafe(withoutSecrets(typeof text === 'string' ? text : Buffer.from(text).toString())).replaceAll(
      mark,
      escapeCharacter,
    );
  return {
    write: (text) => stream.write(typeof text === 'string' || stream.isTTY ? shown(text) : text),
    once: (event, listener) => stream.once?.(event, listener),
    get isTTY() {
      return stream.isTTY;
    },
    isPlain,
    get columns() {
      return stream.columns !== undefined && stream.columns < fewestColumns ? undefined : stream.columns;
    },
    get rows() {
      return stream.rows;
    },
    hasColors: () => stream.hasColors?.() === true,
  };
}

/** What `CI` holds where there is none. */
const noCi: readonly string[] = ['', '0', 'false', 'no'];
/** What `TERM` holds where control sequences are printed as they are. */
const plainTerms: readonly string[] = ['', 'dumb', 'unknown'];

/** True where drawn lines would be printed one below the other: in the log of CI, and on a dumb terminal. */
export function isPlainTerminal({ CI = '', TERM = 'unset' }: Readonly<Record<string, string | undefined>>): boolean {
  return !noCi.includes(CI.toLowerCase()) || plainTerms.includes(TERM);
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** Adds colours only on a terminal that supports them. Its `hasColors` respects NO_COLOR and FORCE_COLOR. */
export function createPaint(stream: OutputStream): Paint {
  const colours = stream.isTTY === true && stream.hasColors?.() === true;
  return (style, text) =>
    colours ? control(styleText(style, text.replaceAll('\u001b', '\ufffd'), { validateStream: false })) : text;
}
