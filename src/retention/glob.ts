/**
 * Patterns of names, in policies and in `--name`. `*` stands for any characters, `?` for one, `\` makes a sign an
 * ordinary character; the whole name must fit, in the same case. There is no other sign. Pure.
 */

/** Signs of other languages of patterns: where each is a sign, and what to write instead. */
const foreignSigns: readonly {
  readonly sign: RegExp;
  /** Default: anywhere. */
  readonly isSignAt?: (at: number, pattern: readonly Part[]) => boolean;
  readonly instead: string;
}[] = [
  { sign: /^[[\]]$/, instead: 'Write ? for one character of any kind' },
  { sign: /^[{}|]$/, instead: 'Write one pattern for each alternative' },
  { sign: /^!$/, isSignAt: isFirst, instead: 'Patterns cannot exclude names' },
  { sign: /^\^$/, isSignAt: isFirst, instead: 'A pattern always stands for the whole name: leave it out' },
  { sign: /^\$$/, isSignAt: isLast, instead: 'A pattern always stands for the whole name: leave it out' },
  { sign: /^%$/, instead: 'Write * for any characters' },
  { sign: /^\.$/, isSignAt: isBeforeRepeat, instead: 'Write * for any characters' },
  { sign: /^\/$/, isSignAt: isBracket, instead: 'A pattern stands between no signs: leave both out' },
  { sign: /^\s$/, isSignAt: isAtEnd, instead: 'A pattern always stands for the whole name: leave it out' },
];
const escapable = /^[*?\\[\]{}|!^$%./\s]$/;

/** Why a pattern is refused, or null. A sign of another language would silently match nothing. */
export function patternProblem(pattern: string): string | null {
  if (pattern === '') return 'is empty and matches nothing; use * for any characters';
  const parts = partsOf(pattern);
  for (const [at, { text, isEscaped }] of parts.entries()) {
    if (isEscaped && !escapable.test(text)) {
      return `has a \\ before ${text === '' ? 'its end' : `"${text}"`}, which means nothing there; write \\\\ for the character itself`;
    }
    const foreign = foreignSigns.find(({ sign, isSignAt }) => sign.test(text) && (isSignAt?.(at, parts) ?? true));
    if (foreign && !isEscaped) {
      return `has "${text}", but the only signs of patterns are * (any characters) and ? (one). ${foreign.instead}, or \\${text} for the character itself`;
    }
  }
  return null;
}

/** Whether `text` fits one of the patterns. */
export function fitsAny(patterns: readonly string[], text: string): boolean {
  return firstFit(patterns, text) !== undefined;
}

/** The first pattern that `text` fits, or undefined. */
export function firstFit(patterns: readonly string[], text: string): string | undefined {
  return patterns.find((pattern) => fits(partsOf(pattern), [...text]));
}

interface Part {
  /** One character; empty for a backslash at the end. */
  readonly text: string;
  readonly isEscaped: boolean;
}

function partsOf(pattern: string): Part[] {
  const characters = [...pattern];
  const parts: Part[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const isEscaped = characters[at] === '\\';
    if (isEscaped) at += 1;
    parts.push({ text: characters[at] ?? '', isEscaped });
  }
  return parts;
}

function isFirst(at: number): boolean {
  return at === 0;
}

function isLast(at: number, { length }: readonly Part[]): boolean {
  return at === length - 1;
}

function isAtEnd(at: number, pattern: readonly Part[]): boolean {
  return isFirst(at) || isLast(at, pattern);
}

/** As in `.*` of a regular expression. */
function isBeforeRepeat(at: number, pattern: readonly Part[]): boolean {
  const next = pattern[at + 1];
  return next !== undefined && !next.isEscaped && /[*+]/.test(next.text);
}

/** As in `/name/`. */
function isBracket(at: number, pattern: readonly Part[]): boolean {
  const ends = [pattern[0], pattern.at(-1)];
  return isAtEnd(at, pattern) && pattern.length > 1 && ends.every((end) => end?.text === '/' && !end.isEscaped);
}

const isSign = (part: Part | undefined, sign: '*' | '?') => part?.text === sign && !part.isEscaped;

/**
 * Matches without a regular expression, which could take exponential time for a pattern with many stars and a long
 * name.
 */
function fits(pattern: readonly Part[], text: readonly string[]): boolean {
  let at = 0;
  let of = 0;
  let star = -1;
  let mark = 0;
  while (at < text.length) {
    const part = pattern[of];
    if (isSign(part, '*')) {
      star = of;
      mark = at;
      of += 1;
    } else if (part !== undefined && (isSign(part, '?') || part.text === text[at])) {
      at += 1;
      of += 1;
    } else if (star >= 0) {
      mark += 1;
      at = mark;
      of = star + 1;
    } else {
      return false;
    }
  }
  while (isSign(pattern[of], '*')) of += 1;
  return of === pattern.length;
}
