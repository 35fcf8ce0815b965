/** Texts that a service, an agent or a file name may contain, and characters that no terminal may receive. */

const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code))
  .filter((character) => !/[\t\n\u0020-\u007e]/.test(character))
  .join('');

/** Titles, hiding colours, a cleared screen, links, 8-bit sequences, direction overrides, a lone surrogate, other line ends. */
export const hostileTexts = [
  'x\u001b]0;title\u0007\u001b[2J\u001b[8mhidden\u001b[0m\u001b]8;;http://evil.example\u001b\\link\u001b]8;;\u001b\\',
  '\u009b31m\u009d0;title\u009c\u0090q\u009c\u202egnp.exe\u2066\u2069\u200f\u061c\u200b\ufeff\u2028\u2029',
  `\ud800\rover${controls}\nerror: all is well\n`,
].join('');

/** Colours and redrawn lines: the command line itself writes these. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const ourSequences = /\u001b\[(?:1G|2K|J|\d*A|\d{1,2}m)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The characters in `text` that a terminal would obey, as names such as `U+001B`. */
export function unsafeIn(text: string, { coloured = false } = {}): string[] {
  const rest = coloured ? text.replace(ourSequences, '') : text;
  const found = [...rest.matchAll(unsafe)].map(([character]) => character.charCodeAt(0));
  const half = /\p{Cs}/u.test(rest) ? [0xd800] : [];
  return [...new Set([...found, ...half])].map((code) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
}

/** The same value with every text in it hostile, except fields with a fixed form. */
export function madeHostile(value: unknown, field = ''): unknown {
  if (typeof value === 'string') return keptFields.test(field) ? value : `${value}${hostileTexts}`;
  if (Array.isArray(value)) return value.map((one) => madeHostile(one, field));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, madeHostile(inner, name)]));
}

/** Ids whose form the client checks, times, and kinds. */
const keptFields = /^(?:id|sandboxId|type|at|.*At|state|kind|since)$/;
