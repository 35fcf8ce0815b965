/** Patterns of names: `*` stands for any characters, `?` for one; the whole name must fit. Pure. */

/** Whether `text` fits one of the patterns. */
export function fitsAny(patterns: readonly string[], text: string): boolean {
  return firstFit(patterns, text) !== undefined;
}

/** The first pattern that `text` fits, or undefined. */
export function firstFit(patterns: readonly string[], text: string): string | undefined {
  return patterns.find((pattern) => fits(pattern, text));
}

/**
 * Matches without a regular expression, which could take exponential time for a pattern with many stars and a long
 * name.
 */
function fits(pattern: string, text: string): boolean {
  let at = 0;
  let of = 0;
  let star = -1;
  let mark = 0;
  while (at < text.length) {
    if (pattern[of] === '*') {
      star = of;
      mark = at;
      of += 1;
    } else if (of < pattern.length && (pattern[of] === '?' || pattern[of] === text[at])) {
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
  while (pattern[of] === '*') of += 1;
  return of === pattern.length;
}
