/** Tells by the kernel, and not by what a process says of itself, on which disk an isolated process works. */
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { sandboxHome } from '../disk/directories.js';

/** The folder that is mounted as the home, as its file system names it. */
function homeIn(mounts: string): string | undefined {
  const fields = mounts.split('\n').map((line) => line.split(' ', 5));
  return fields.find(([, , , , mountedAt]) => mountedAt === sandboxHome)?.[3];
}

/** Such as `mnt:[4026531840]`. Undefined if the process has ended or may not be looked at. */
export function mountNamespace(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined;
  }
}

/**
 * Whether the process has one of these disks as its home. It has no way to change that.
 * @param folders of the disks, by the last part of their paths
 */
export function seesDisk(pid: number, folders: ReadonlyMap<string, string>): boolean {
  try {
    const home = homeIn(readFileSync(`/proc/${pid}/mountinfo`, 'latin1'));
    const folder = folders.get(home?.split('/').at(-1) ?? '');
    if (folder === undefined) return false;
    // Only now: in the place of a stranger a look could take long.
    const [seen, ours] = [statSync(`/proc/${pid}/root${sandboxHome}`), statSync(folder)];
    return seen.dev === ours.dev && seen.ino === ours.ino;
  } catch {
    return false;
  }
}
