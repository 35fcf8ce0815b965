/**
 * Copies the machine's settings; sandboxes see the copy as /etc. Sandboxes must not see the folder itself. A mount that
 * hides a secret disappears when the file is replaced, which happens with each change of a password. A secret that is
 * added later would not be hidden at all.
 */
import { copyFileSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../disk/copy-tree.js';
import { isForOthers } from './hidden-paths.js';

/** Commands have no use for these, even if everybody may read them. */
const leftOutPaths = ['ssl/private', 'sudoers.d', 'ssh'];

/**
 * Replaces `target` with a copy of the files that everybody may read. Files that cannot be copied are left out.
 * @param leftOut paths relative to `source` that are not copied
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
      // The file was removed, or it cannot be read for a reason other than its mode.
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
