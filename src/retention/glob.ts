/**
 * Patterns of names, in policies and in `--name`. `*` stands for any characters, `?` for one, `\` makes a sign an
 * ordinary character; the whole name must fit, in the same case. There is no other sign. Pure.
 */

/** Signs of other languages of patterns, where they are signs there. */
const foreignSign = /[[\]{}|%]|^[!^]|\$$|\.(?=[*+])|^\s|\s$|^\/(?=.*\/$)/su;
const escaped = /\\[*?\\[\]{}|!^$%./\s]/gu;

/** Why a pattern is refused, or null. A sign of another language would silently match nothing. */
export function patternProblem(pattern: string): string | null {
  if (pattern === '') return 'is empty and matches nothing; use * for any characters';
  const others = pattern.replace(escaped, 'x');
  const [, before] = /\\(.?)/su.exec(others) ?? [];
  if (before !== undefined) {
    return `has a \\ before ${before === '' ? 'its end' : `"${before}"`}, which means nothing there; write \\\\ for the character itself`;
  }
  const [sign] = foreignSign.exec(others) ?? [];
  if (sign === undefined) return null;
  return `has "${sign}", but the only signs of patterns are * (any characters) and ? (one), and a pattern stands for the whole name. For alternatives, write several patterns; for the character itself, write \\${sign}`;
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
