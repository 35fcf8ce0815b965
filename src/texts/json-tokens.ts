/**
 * Reads valid JSON token by token, because `JSON.parse` rounds long numbers. A template sent another number than the
 * item had.
 */

/** The strings, numbers, words and marks of a JSON text, as they are written. @param text valid JSON */
export function* jsonTokens(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = endOfToken(text, at);
    const token = text.slice(at, end);
    if (token.trim() !== '') yield token;
    at = end;
  }
}

function endOfToken(text: string, begin: number): number {
  if (text[begin] === '"') return endOfString(text, begin) + 1;
  let end = begin;
  while (/[\w.+-]/.test(text[end] ?? '')) end += 1;
  return Math.max(end, begin + 1);
}

/** The place of the closing quotation mark. */
function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; ; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"' || at >= text.length) return at;
  }
}

const isOpening = (token: string): boolean => token === '{' || token === '[';
const isClosing = (token: string): boolean => token === '}' || token === ']';

/** A string as `JSON.stringify` writes it; any other token is unchanged. */
const plain = (token: string): string => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token);

/** The numbers of a JSON text, as they are written. @param text valid JSON */
export function numbersOf(text: string): string[] {
  return [...jsonTokens(text)].filter(isNumber);
}

const isNumber = (token: string): boolean => /^[-\d]/.test(token);

/** A number keeps 15 digits of any decimal, and whole numbers of up to 2 to the power of 53. */
export function losesDigits(number: string): boolean {
  if (/^-?\d+$/.test(number)) return !Number.isSafeInteger(Number(number));
  const digits = number
    .replace(/e.*$/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
  return digits.length > 15 || !Number.isFinite(Number(number));
}

/** Parses JSON. Each number becomes a text with its digits as they are written. @param text valid JSON */
export function parseWithTextNumbers(text: string): unknown {
  const tokens = [...jsonTokens(text)].map((token) => (isNumber(token) ? `"${token}"` : token));
  return JSON.parse(tokens.join(''));
}

/**
 * The value of each field of an object, as JSON without blanks, with its digits as they are written.
 * @param text valid JSON of an object
 */
export function fieldsAsWritten(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  let depth = 0;
  let name: string | undefined;
  let value = '';
  for (const token of jsonTokens(text)) {
    if (isClosing(token)) depth -= 1;
    if (depth === 0 || (depth === 1 && token === ',')) {
      if (name !== undefined) fields.set(name, value);
      name = undefined;
      value = '';
    } else if (name === undefined) name = JSON.parse(token) as string;
    else if (value !== '' || token !== ':') value += plain(token);
    if (isOpening(token)) depth += 1;
  }
  return fields;
}

/** Indents JSON as `JSON.stringify` does, and keeps the digits of its numbers. @param text valid JSON */
export function indentJson(text: string, indent: number): string {
  const parts: string[] = [];
  let depth = 0;
  let last = '';
  for (const token of jsonTokens(text)) {
    if (isClosing(token)) depth -= 1;
    const breaks = isClosing(token) ? !isOpening(last) : isOpening(last) || last === ',';
    if (breaks) parts.push('\n', ' '.repeat(indent * depth));
    parts.push(token === ':' ? ': ' : plain(token));
    if (isOpening(token)) depth += 1;
    last = token;
  }
  return parts.join('');
}
