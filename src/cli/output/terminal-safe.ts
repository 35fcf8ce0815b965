/** Text of others on a terminal: an agent's output must not move the cursor, set the title or clear the screen. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Leaves tabs and line ends; every other control character becomes a visible stand-in. */
export function terminalSafe(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(controlCharacters, '\ufffd');
}

/** The same, without tabs and line ends: a cell of a table. */
export function oneLine(text: string): string {
  return terminalSafe(text).replace(/[\t\n]/g, ' ');
}
