/** Finds out whether the system runs programs of a folder. The first program of each sandbox is one, and its disk holds others. */
import { readFileSync, realpathSync } from 'node:fs';
import { isBelow } from '../../../../src/os/is-below.js';
import { MachineError } from '../machine-error.js';

/** @throws MachineError `noexec` */
export function requireExecutable(folder: string): void {
  const mount = noexecMount(realpathSync(folder), mountsOfThisProcess());
  if (mount === undefined) return;
  const mend = `Mount it with exec (\`mount -o remount,exec ${mount}\`), or choose a folder elsewhere: SANDFLOW_HOME, or --directory`;
  throw new MachineError('noexec', `No sandbox can run: ${folder} is on ${mount}, which is mounted noexec. ${mend}.`);
}

/**
 * @param path without links
 * @param mounts as in /proc/self/mountinfo
 * @returns where the file system of the path is mounted, if it is mounted noexec
 */
export function noexecMount(path: string, mounts: string): string | undefined {
  let found = { at: '', options: '' };
  for (const line of mounts.split('\n')) {
    const [, , , , escaped = '', options = ''] = line.split(' ');
    const at = escaped.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
    const holds = at === '/' || at === path || (at !== '' && isBelow(path, at));
    // A later mount at the same place covers the earlier one.
    if (holds && at.length >= found.at.length) found = { at, options };
  }
  return found.options.split(',').includes('noexec') ? found.at : undefined;
}

function mountsOfThisProcess(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
