/** Names by pattern: `*` stands for any characters, `?` for one; the whole name must fit. */
export function nameMatches(pattern: string): (name: string | undefined) => boolean {
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const whole = new RegExp(`^${escaped}$`, 's');
  return (name) => whole.test(name ?? '');
}
