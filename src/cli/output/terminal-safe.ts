/**
 * Text of others on a terminal: it must not move the cursor, set the title, clear the screen, or show itself in another order
 * than it is read. `terminal.ts` puts all text through here; printers only see to it that a field stays in its line.
 */

/** C0 but tab and newline, DEL, and C1, of which a terminal may take U+009B for ESC [. */
const controls = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';
/** Embeddings, overrides, isolates and marks of direction: what follows would be shown somewhere else. */
const directions = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
/** Other line ends, and characters that show nothing. Joiners stay: scripts and emoji are written with them. */
const invisibles = '\\u2028\\u2029\\u200b\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb';

/** With `u`, half of a character is one only where its other half is missing. */
const unsafe = new RegExp(`[${controls}${directions}${invisibles}\\p{Cs}]`, 'gu');

/** Leaves tabs and line ends; every other character that a terminal obeys becomes a visible stand-in. */
export function terminalSafe(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, '\ufffd');
}

/** The same, without tabs and line ends: a cell of a table, or a text of others in a sentence. */
export function oneLine(text: string): string {
  return terminalSafe(text).replace(/[\t\n]/g, ' ');
}

/** Lines after the first are set in, so that none of them can be taken for one of ours. */
export function setIn(text: string, by = '  '): string {
  return text.replaceAll('\n', `\n${by}`);
}

/** JSON means the same with any character escaped, so that it is exact and safe at once. */
export function escapeUnsafe(json: string): string {
  return json.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
