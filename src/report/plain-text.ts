/**
 * Prepares the text of agents for a page: removes terminal colours, control characters and marks that change the
 * direction of text.
 */

import { withoutSequences } from '../texts/terminal-text.js';

/** All control characters except the tab and the line feed. */
const controlCharacters = /[^\P{Cc}\t\n]/gu;
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const loneSurrogates = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Removes terminal colours and cursor movements, and makes control characters and direction marks visible.
 * Letters of any script stay as they are.
 */
export function plainText(text: string): string {
  return withoutSequences(text)
    .replaceAll('\r\n', '\n')
    .replace(controlCharacters, visible)
    .replace(directionMarks, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(loneSurrogates, '\ufffd');
}

/** Unicode has a picture for each ASCII control character. All others become U+FFFD. */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
