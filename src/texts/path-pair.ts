/** Two paths with a colon between them, such as LOCAL:REMOTE. In a path, `\:` is a colon, and `\\:` a backslash before one. */

/**
 * Splits at the last colon that no backslash precedes.
 * @returns both paths as they are meant; the second is undefined without such a colon
 */
export function splitPair(text: string): readonly [first: string, second: string | undefined] {
  const last = [...text.matchAll(/(?<!\\)(?:\\\\)*:/g)].at(-1);
  if (last === undefined) return [plain(text), undefined];
  const end = last.index + last[0].length;
  return [plain(text.slice(0, end)).slice(0, -1), plain(text.slice(end))];
}

/** Writes the paths so that `splitPair` reads them. */
export function joinPair(first: string, second: string): string {
  // The colon between them needs no backslash of its own.
  return `${escaped(`${first}:`).slice(0, -2)}:${escaped(second)}`;
}

const plain = (path: string) =>
  path.replace(/(?<!\\)(\\+):/g, (_, backslashes: string) => `${'\\'.repeat(Math.floor(backslashes.length / 2))}:`);
const escaped = (path: string) => path.replace(/(?<!\\)(\\*):/g, '$1$1\\:');
