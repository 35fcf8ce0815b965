/** Measures how many columns text takes on a terminal, and cuts text to a width. */

/** Is made when it is needed: that takes longer than most of what a command does. */
let segmenter: Intl.Segmenter | undefined;
/** East Asian wide and fullwidth characters, and emoji: two columns each. */
const wide =
  /[\u1100-\u115f\u231a\u231b\u2329\u232a\u23e9-\u23f3\u25fd\u25fe\u2614-\u27bf\u2b1b-\u2b55\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f000}-\u{1ffff}\u{20000}-\u{3fffd}]|\ufe0f|\u200d/u;
/** Most text matches, and then its width is its length. */
const ascii = /^[\u0020-\u007e]*$/;

/** Number of columns that text without control characters takes. If terminals differ, the larger number. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const segment of graphemesOf(text)) width += graphemeWidth(segment);
  return width;
}

/** Cuts text to at most `columns`. Text that is cut ends with an ellipsis. */
export function cutToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const segment of graphemesOf(text)) {
    width += graphemeWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return columns < 1 ? '' : `${kept}…`;
}

/** Splits a line into parts of at most `columns`, between characters. */
export function wrapToWidth(text: string, columns: number): string[] {
  if (displayWidth(text) <= columns) return [text];
  const parts: string[] = [];
  let part = '';
  let width = 0;
  for (const segment of graphemesOf(text)) {
    const wide = graphemeWidth(segment);
    if (width + wide > columns && part !== '') {
      parts.push(part);
      part = '';
      width = 0;
    }
    part += segment;
    width += wide;
  }
  return [...parts, part];
}

/** Splits a line into parts of at most `columns`, between words. A longer word is split between characters. */
export function wrapWords(text: string, columns: number): string[] {
  const parts: string[] = [];
  let part = '';
  for (const word of text.split(' ')) {
    const longer = part === '' ? word : `${part} ${word}`;
    if (displayWidth(longer) <= columns) {
      part = longer;
      continue;
    }
    if (part !== '') parts.push(part);
    const pieces = wrapToWidth(word, columns);
    parts.push(...pieces.slice(0, -1));
    part = pieces.at(-1) ?? '';
  }
  return [...parts, part];
}

/** The time that the segmenter takes grows with the square of the length, and an agent writes lines of any length. */
const mostAtOnce = 500;

/** Splits text into the characters that people see, in linear time. One of more than 500 code units is cut in parts. */
function* graphemesOf(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (let at = 0; at < text.length; ) {
    const end = at + mostAtOnce;
    const splitsPair = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const part = text.slice(at, splitsPair ? end + 1 : end);
    const found = Array.from(segmenter.segment(part), ({ segment }) => segment);
    // The last character may continue in the next part.
    if (at + part.length < text.length && found.length > 1) found.pop();
    for (const segment of found) {
      yield segment;
      at += segment.length;
    }
  }
}

/** What takes no column of its own: accents above a letter, for example. Vowel signs beside a letter take one. */
const joined = /[\p{Mn}\p{Me}\p{Cf}]/gu;

function graphemeWidth(segment: string): number {
  if (wide.test(segment)) return 2;
  return segment.length === 1 ? 1 : Math.max(1, Array.from(segment.replaceAll(joined, '')).length);
}
