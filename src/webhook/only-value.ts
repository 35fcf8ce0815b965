/**
 * The value of a header. A proxy may add one that is already there, and Node joins both with a comma: the same value twice
 * counts once.
 * @returns undefined for none, or an empty one; null for several values that differ
 */
export function onlyValue(header: string | readonly string[] | undefined): string | undefined | null {
  const values = new Set(typeof header === 'string' ? header.split(', ') : header);
  const [value] = values;
  return values.size > 1 ? null : value || undefined;
}
