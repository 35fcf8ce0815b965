/** The limits that this process was started with, as far as they are too low for a server. */
import { readFileSync } from 'node:fs';

/** For each limit of /proc/self/limits that matters: the least that is enough. The number of root's processes is not limited. */
const wanted = [
  { name: 'Max open files', least: 1_024, option: '-n', what: 'open files', alsoRoot: true },
  { name: 'Max processes', least: 512, option: '-u', what: 'processes of this user', alsoRoot: false },
] as const;

/**
 * @param limits as in /proc/self/limits. Default: those of this process, or none on a system without that file
 * @returns one text for each limit that is too low, without a full stop
 */
export function lowLimits(limits = ownLimits(), isRoot = process.getuid?.() === 0): string[] {
  const lines = limits.split('\n');
  return wanted.flatMap(({ name, least, option, what, alsoRoot }) => {
    const soft = Number.parseInt(lines.find((line) => line.startsWith(name))?.slice(name.length) ?? '', 10);
    // "unlimited" is no number.
    if (!(soft < least) || (isRoot && !alsoRoot)) return [];
    return [`at most ${soft} ${what} (\`ulimit ${option}\`): raise it to ${least} or more`];
  });
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return '';
  }
}
