/**
 * Finds the processes of the machine that are ours. No other process is ever signalled. A process is ours if one of
 * these holds:
 *
 * - Its pid and start time are those of a leader that we started, or of a process found before.
 * - It is in the group or session of one of our leaders. A process that is known to be ours lives in that group or
 *   session.
 * - It descends from a process known to be ours.
 * - It was started with one of our disks as its home or, if it is isolated, one of our disks is mounted as its home.
 *   Such a process may have left its group.
 *
 * The HOME variable of an isolated process is ignored, because it could name the home of another sandbox. Without
 * isolation, a process is not found if it has left its group and its parent and has changed its environment.
 */
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { sandboxHome } from '../disk/directories.js';
import type { ProcessGroup } from './records.js';
import { type ProcessEntry, readProcessTable, startVariable } from './table.js';

/** The disks whose processes are searched for. */
export interface SearchedDisks {
  /** Tells whether HOME of a process that is not isolated is one of the disks. */
  isHome(home: string): boolean;
  /** The folders of the disks, by the last part of their paths. */
  readonly folders: ReadonlyMap<string, string>;
}

export function oneDisk(folder: string): SearchedDisks {
  return { isHome: (home) => home === folder, folders: new Map([[basename(folder), folder]]) };
}

/** Returns a search that remembers the processes it found, since the leader is often the first to end. */
export function createProcessSearch(
  groups: readonly Pick<ProcessGroup, 'leader' | 'startTime'>[],
  disks?: SearchedDisks,
): () => readonly ProcessEntry[] | undefined {
  const known = new Set(groups.map(({ leader, startTime }) => `${leader} ${startTime}`));
  const leaders = new Set(groups.map(({ leader }) => leader));
  return () => {
    const table = readProcessTable()?.filter((entry) => entry.pid !== process.pid);
    if (table === undefined) return undefined;
    const found = new Set<number>();
    const ourGroups = new Set<number>();
    const isOnDisk = disks ? searchOfDisks(disks) : () => false;
    for (const entry of table) {
      if (!known.has(keyOf(entry)) && !isOnDisk(entry.pid)) continue;
      found.add(entry.pid);
      // While a member lives, the kernel cannot give the number of its group to another group.
      for (const number of [entry.processGroup, entry.session]) if (leaders.has(number)) ourGroups.add(number);
    }
    for (const entry of table) {
      if (ourGroups.has(entry.processGroup) || ourGroups.has(entry.session)) found.add(entry.pid);
    }
    addDescendants(table, found);
    const entries = table.filter((entry) => found.has(entry.pid));
    for (const entry of entries) known.add(keyOf(entry));
    return entries;
  };
}

/** All processes of a mount namespace see the same disk, so only one of them is checked. */
function searchOfDisks({ isHome, folders }: SearchedDisks): (pid: number) => boolean {
  const seen = new Map<string, boolean>();
  return (pid) => {
    const namespace = mountNamespace(pid);
    if (namespace === undefined) return false;
    if (namespace === mountNamespace('self')) return isHome(startVariable(pid, 'HOME') ?? '');
    const known = seen.get(namespace) ?? seesDisk(pid, folders);
    seen.set(namespace, known);
    return known;
  };
}

function keyOf({ pid, startTime }: ProcessEntry): string {
  return `${pid} ${startTime}`;
}

function addDescendants(table: readonly ProcessEntry[], found: Set<number>): void {
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const entry of table) if (found.has(entry.parentPid)) found.add(entry.pid);
  }
}

/** The path, within its file system, of the folder that is mounted as the home. */
function homeIn(mounts: string): string | undefined {
  const fields = mounts.split('\n').map((line) => line.split(' ', 5));
  return fields.find(([, , , , mountedAt]) => mountedAt === sandboxHome)?.[3];
}

/** The mount namespace, such as `mnt:[4026531840]`. Undefined if the process has ended or cannot be read. */
function mountNamespace(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined;
  }
}

/**
 * Tells whether one of these disks is mounted as the home of the process. The process cannot change that.
 * @param folders the folders of the disks, by the last part of their paths
 */
function seesDisk(pid: number, folders: ReadonlyMap<string, string>): boolean {
  try {
    const home = homeIn(readFileSync(`/proc/${pid}/mountinfo`, 'latin1'));
    const folder = folders.get(home?.split('/').at(-1) ?? '');
    if (folder === undefined) return false;
    // Checked last: a stat of another file system could take long.
    const [seen, ours] = [statSync(`/proc/${pid}/root${sandboxHome}`), statSync(folder)];
    return seen.dev === ours.dev && seen.ino === ours.ino;
  } catch {
    return false;
  }
}
