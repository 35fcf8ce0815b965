/** Names the users of processes as `ps` in the sandbox does. */
import { readFileSync, readlinkSync } from 'node:fs';

/** The names of users by their ids, as the sandbox has them: its /etc is a copy of the machine's. */
export function readUserNames(file = '/etc/passwd'): ReadonlyMap<number, string> {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    // The first line of an id counts, as it does for `ps`.
    return new Map(lines.flatMap((line) => userOf(line) ?? []).reverse());
  } catch {
    return new Map();
  }
}

function userOf(line: string): [[number, string]] | undefined {
  const [name, , id] = line.split(':');
  return name && id && /^\d+$/.test(id) ? [[Number(id), name]] : undefined;
}

/**
 * The name of the user as which a process runs, or the number of a user without a name.
 * @param uid the number outside of the sandbox, from /proc
 */
export function userName(pid: number, uid: number, names: ReadonlyMap<number, string>): string {
  const inside = uidInside(pid, uid);
  return names.get(inside) ?? String(inside);
}

/** A sandbox may have a user namespace of its own, in which its user has another number. */
function uidInside(pid: number, uid: number): number {
  try {
    // The map of our own namespace translates to the numbers of its parent.
    if (readlinkSync(`/proc/${pid}/ns/user`) === readlinkSync('/proc/self/ns/user')) return uid;
    return mappedUid(readFileSync(`/proc/${pid}/uid_map`, 'latin1'), uid);
  } catch {
    return uid;
  }
}

/** @param map lines of the first number inside, the first number outside, and how many follow one another */
export function mappedUid(map: string, uid: number): number {
  for (const line of map.split('\n')) {
    const [inside, outside, count] = line.trim().split(/\s+/).map(Number);
    if (inside === undefined || outside === undefined || count === undefined) continue;
    if (uid >= outside && uid < outside + count) return inside + uid - outside;
  }
  return uid;
}
