/** True for the path of a whole folder, to put or to collect. Only the slash at its end says so. Pure. */
export function isFolderPath(path: string): boolean {
  return path.endsWith('/');
}
