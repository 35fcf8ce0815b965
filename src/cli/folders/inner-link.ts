/**
 * True if a symbolic link leads to a place inside its folder, whatever other links there are: it goes up first, and not
 * above the folder, and then only down. `a/../b` may be elsewhere if `a` is a link.
 * @param path of the link, relative to the folder, with slashes
 */
export function isInnerLink(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/')) return false;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const up = parts.findIndex((part) => part !== '..');
  const ups = up === -1 ? parts.length : up;
  const depth = path.split('/').filter((part) => part !== '' && part !== '.').length - 1;
  return ups <= depth && !parts.slice(ups).includes('..');
}
