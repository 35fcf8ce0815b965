/**
 * A copy of the machine's settings, which sandboxes see as /etc. The folder itself cannot be shown: what hides a secret there
 * goes away once the secret is replaced, as each change of a password does, and what is added is not hidden at all.
 */
import { copyFileSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../disk/copy-tree.js';
import { isForOthers } from './hidden-paths.js';

/** Of no use to a command, also where others may read them. */
const leftOutPaths = ['ssl/private', 'sudoers.d', 'ssh'];

/**
 * Replaces `target` by a copy of the files that everybody may read. Files that cannot be copied are left out.
 * @param leftOut names that are not copied, from `source` on
 */
export async function copySettings(target: string, source = '/etc', leftOut = leftOutPaths): Promise<void> {
  await removeTree(target);
  copyFolder(source, target, leftOut);
}

function copyFolder(source: string, target: string, leftOut: readonly string[], below = ''): void {
  mkdirSync(target, { mode: 0o755 });
  for (const name of readdirSync(source)) {
    if (leftOut.includes(join(below, name))) continue;
    try {
      copyOne(join(source, name), join(target, name), leftOut, join(below, name));
    } catch {
      // Gone meanwhile, or shut to this user by other means than its mode.
    }
  }
}

function copyOne(source: string, target: string, leftOut: readonly string[], below: string): void {
  const stats = lstatSync(source);
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
  else if (!isForOthers(stats)) return;
  else if (stats.isDirectory()) copyFolder(source, target, leftOut, below);
  else if (stats.isFile()) copyFileSync(source, target);
}
