/** Paths in a sandbox. Pure, without dependencies. */

/** True for a path like `../x` or `a/../../x`: it leads out of the working directory of the sandbox. */
export function leadsOutOfSandbox(path: string): boolean {
  if (path.startsWith('/')) return false;
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** Why a path cannot name one file or folder to collect, as the end of a message; undefined if it can. */
export function collectProblem(path: string): string | undefined {
  if (/(?:^|\/)\.{1,2}$/.test(path)) return 'is a folder. Say so with a slash at its end, like out/';
  // `?` is more often a sign of a name, such as one from a URL, than of a pattern.
  if (/\*|\{[^{}]*,[^{}]*\}/.test(path))
    return 'is a pattern, which is not expanded. Name each file, like out/report.csv, or the folder, like out/';
  return undefined;
}

/** The end of a message about a path that leads out: what to do. */
export const leadsOutText =
  'leads out of the sandbox\'s working directory. Use a path without "..", like out/report.csv';
