/** Checks the owners and modes of files that this process is to trust. See trusted-folder.ts for what was seen. */

import { spawnSync } from 'node:child_process';
import { readFileSync, type Stats } from 'node:fs';
import { userInfo } from 'node:os';

const writableByGroup = 0o020;
const writableByOthers = 0o002;
const stickyBit = 0o1000;
/** The owner that a container shows for a file whose real owner does not exist in the container. */
const overflowUser = 65_534;

/** The user of this process; undefined if the system has no users. */
export function ownUser(): number | undefined {
  return process.geteuid?.();
}

/** ` by user 1000`, to say in a message who may not do something; empty if the system has no users. */
export function byOwnUser(): string {
  const own = ownUser();
  return own === undefined ? '' : ` by user ${own}`;
}

/** True for the user of this process, and for root, who can do everything anyway. */
export function isTrustedOwner(uid: number): boolean {
  const own = ownUser();
  return own === undefined || uid === own || uid === 0;
}

/**
 * Says what is wrong with a folder on the path to our folder. Anyone who may rename its entries could replace our
 * folder.
 */
export function problemOnTheWay(stats: Stats): string | undefined {
  const { uid, gid, mode } = stats;
  if (!isTrustedOwner(uid) && !(uid === overflowUser && isUserNamespace())) return `belongs to user ${uid}`;
  if (!stats.isDirectory() || mode & stickyBit) return undefined;
  if (mode & writableByOthers) return 'can be written by everybody';
  return mode & writableByGroup && !isOwnGroup(gid) ? `can be written by group ${gid}` : undefined;
}

/**
 * True for the group of this process, and for a further group of it that nobody else belongs to, as an orchestrator gives
 * it to the volume of a container.
 */
export function isOwnGroup(gid: number): boolean {
  if (gid === process.getegid?.()) return true;
  return process.getgroups?.().includes(gid) === true && isAloneIn(gid);
}

/** Asks the system, which may know groups from elsewhere than its files. If it cannot say, others may be in the group. */
function isAloneIn(gid: number): boolean {
  const ask = (...args: string[]) => spawnSync('getent', args, { encoding: 'utf8' });
  // A second group may have the same number. Only the list of all names it, and only a question names one of a directory.
  const [group, groups, accounts] = [ask('group', String(gid)), ask('group'), ask('passwd')];
  // 2: there is no such group, as in a container.
  if ((group.status !== 0 && group.status !== 2) || groups.status !== 0 || accounts.status !== 0) return false;
  const rows = (text: string) => text.split('\n').map((line) => line.split(':'));
  const same = rows(`${group.stdout}\n${groups.stdout}`).filter(([, , number]) => number === String(gid));
  const listed = same.flatMap(([, , , members = '']) => members.split(','));
  const others = rows(accounts.stdout);
  const primary = others.filter(([, , , primaryGid]) => primaryGid === String(gid)).map(([name]) => name);
  const own = nameOfOwnUser();
  return [...listed, ...primary].every((name) => name === '' || name === own);
}

function nameOfOwnUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // An arbitrary user of a container.
    return undefined;
  }
}

/** Whether anybody but the owner may write the file. */
export function isWritableByOthers({ mode }: Stats): boolean {
  return ownUser() !== undefined && (mode & (writableByGroup | writableByOthers)) !== 0;
}

/** Whether anybody but the owner may read, write or execute the file. */
export function isOpenToOthers({ mode }: Stats): boolean {
  return ownUser() !== undefined && (mode & 0o077) !== 0;
}

/** Whether somebody who is neither the owner nor in the group of the file may read, write or execute it. */
export function isReadableByOthers({ mode }: Stats): boolean {
  return ownUser() !== undefined && (mode & 0o007) !== 0;
}

/** In a user namespace, root of the machine may appear as the overflow user, and so may the owner of `/`. */
function isUserNamespace(): boolean {
  try {
    const [inside, outside, count] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/).map(Number);
    return !(inside === 0 && outside === 0 && count === 2 ** 32 - 1);
  } catch {
    return false;
  }
}
