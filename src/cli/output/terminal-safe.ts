/**
 * Foreign text on a terminal must not move the cursor, set the title, clear the screen, or change the reading order.
 * `terminal.ts` enforces this for all output; printers only ensure that a field stays on its line.
 */

import { cut } from '../../texts/length.js';
import { lastDrawn, withoutColours } from '../../texts/terminal-text.js';

/** C0 (without tab and newline), DEL, and C1. C1 is included because a terminal may read U+009B as ESC [. */
const controls = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';
/** Embeddings, overrides, isolates and direction marks, which change the order of the text that follows. */
const directions = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
/** Other line ends, and invisible characters. Joiners are left out, because some scripts and emoji need them. */
const invisibles = '\\u2028\\u2029\\u200b\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb';

/** With the flag `u`, a surrogate matches only if its other half is missing. */
const unsafe = new RegExp(`[${controls}${directions}${invisibles}\\p{Cs}]`, 'gu');

/** Keeps tabs and line ends; replaces every other control character with a visible one. */
export function terminalSafe(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, '\ufffd');
}

/**
 * The output of an agent or a command, as it looks on a terminal in the end: without control sequences, and of each line
 * only what was drawn last.
 */
export function shownText(text: string): string {
  return terminalSafe(lastDrawn(text));
}

/**
 * As `terminalSafe`, without colours and cursor movements, and with spaces for tabs and line ends: for a table cell, or foreign
 * text in a sentence.
 */
export function oneLine(text: string): string {
  return terminalSafe(withoutColours(text)).replace(/[\t\n]/g, ' ');
}

/** The first line of a text, at most 80 characters. */
export function headLine(text: string): string {
  return cut(oneLine(text.trim().split('\n', 1)[0] ?? ''), 80);
}

/** Removes colours, and indents all lines after the first, so that none of them looks like a message of this program. */
export function setIn(text: string, by = '  '): string {
  return withoutColours(text).replaceAll('\n', `\n${by}`);
}

/** Escaping a character does not change the meaning of JSON. */
export function escapeUnsafe(json: string): string {
  return json.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
