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

/** The end of a message about such a path: what to do. */
export const leadsOutText =
  'leads out of the sandbox\'s working directory. Use a path without "..", like out/report.csv';
