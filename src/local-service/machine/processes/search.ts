/**
 * Tells which processes of the machine are ours. A process is only ever signalled when it is known to be:
 *
 * - its pid and start time are those of a leader that we started, or of a process found before, or
 * - it is in the group or the session of a leader of ours while one that is known lives there, or
 * - it descends from one that is known, or
 * - it was started with a disk of ours as its home, or sees one there where it is isolated; then it may have left the group.
 *
 * What an isolated process says of its home counts for nothing: it could name a neighbour's.
 * Without isolation, a process that leaves its group, its parent and its environment behind is not found.
 */
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { sandboxHome } from '../disk/directories.js';
import { type ProcessEntry, readProcessTable, startVariable } from './table.js';

interface SearchedGroup {
  /** Pid of the leader, which is also the number of the group and of the session. */
  readonly leader: number;
  /** Undefined if there is no /proc. */
  readonly startTime?: string;
}

/** The disks whose processes are searched for. */
export interface SearchedDisks {
  /** Of a process that is not isolated. */
  isHome(home: string): boolean;
  /** Their folders, by the last part of their paths. */
  readonly folders: ReadonlyMap<string, string>;
}

export function oneDisk(folder: string): SearchedDisks {
  return { isHome: (home) => home === folder, folders: new Map([[basename(folder), folder]]) };
}

/** Gives a search that remembers what it found, since the leader is often the first to end. */
export function createProcessSearch(
  groups: readonly SearchedGroup[],
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
      // While a member lives, the number of its group cannot be given to another.
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

/** Commands of one namespace see the same disk, so one of them is checked. */
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

/** The folder that is mounted as the home, as its file system names it. */
function homeIn(mounts: string): string | undefined {
  const fields = mounts.split('\n').map((line) => line.split(' ', 5));
  return fields.find(([, , , , mountedAt]) => mountedAt === sandboxHome)?.[3];
}

/** Such as `mnt:[4026531840]`. Undefined if the process has ended or cannot be read. */
function mountNamespace(pid: number | 'self'): string | undefined {
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
