/**
 * Copies the machine's settings; sandboxes see the copy as /etc. Sandboxes must not see the folder itself. A mount that
 * hides a secret disappears when the file is replaced, which happens with each change of a password. A secret that is
 * added later would not be hidden at all.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../disk/copy-tree.js';
import { isForOthers } from './hidden-paths.js';

/** Commands have no use for these, even if everybody may read them. */
const leftOutPaths = ['ssl/private', 'sudoers.d', 'ssh'];

/**
 * Replaces `target` with a copy of the files that everybody may read. Files that cannot be copied are left out. Keeps a
 * complete copy of an earlier start if no file has changed since: on some disks, a copy takes half a second.
 * @param leftOut paths relative to `source` that are not copied
 */
export async function copySettings(target: string, source = '/etc', leftOut = leftOutPaths): Promise<void> {
  const stateFile = `${target}.state`;
  const state = stateOf(source, leftOut);
  if (state === readState(stateFile)) return;
  rmSync(stateFile, { force: true });
  await removeTree(target);
  copyFolder(source, target, leftOut);
  writeFileSync(stateFile, state, { mode: 0o600 });
}

function readState(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** A hash that changes with each content, mode and name below `source`. */
function stateOf(source: string, leftOut: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([source, leftOut]));
  addFolder(hash, source);
  return hash.digest('hex');
}

function addFolder(hash: Hash, folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    try {
      const stats = lstatSync(path);
      // The change time changes with the content and with the mode, and nobody can set it.
      const { ino, mode, size, ctimeMs } = stats;
      hash.update(JSON.stringify([path, ino, mode, size, ctimeMs]));
      if (stats.isDirectory()) addFolder(hash, path);
    } catch {
      // It was removed, or this user may not list it: then it is not copied either.
    }
  }
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
