/** Copies, measures and removes whole directories. Links are never followed. */
import { chmod, lstat, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hasCode } from './file-error.js';
import { listFolder } from './folder-listing.js';
import { MachineError } from './machine-error.js';
import { runProgram, succeeds } from './program.js';

/**
 * Puts a copy of `source` in the place of `target`: with modes, times and links, sharing blocks where the file system can. The
 * copy is made under `unfinished` and then renamed, so that `target` is never half a copy. Gives its size. Safe to repeat.
 * @throws MachineError `copy_failed`
 */
export async function replaceByCopy(source: string, target: string, unfinished: string): Promise<number> {
  const copy = await mkdtemp(join(unfinished, `${basename(target)}-`));
  try {
    await copyInto(source, copy);
    // Measured before anybody else can replace it.
    const sizeBytes = await treeSize(Buffer.from(copy));
    await putInPlace(copy, target, unfinished);
    return sizeBytes;
  } catch (error) {
    await removeTree(copy);
    throw error;
  }
}

/** Takes the directory away at once, then removes what is in it. Repeating it changes nothing. */
export async function discardTree(path: string, unfinished: string): Promise<void> {
  const grave = await mkdtemp(join(unfinished, 'discarded-'));
  await moveAway(path, join(grave, 'tree'));
  await removeTree(grave);
}

/** Bytes of all files, each link of a file counted. */
async function treeSize(folder: Buffer): Promise<number> {
  let bytes = 0;
  for await (const { entry, location } of listFolder(folder)) {
    if (entry.isDirectory()) bytes += await treeSize(location);
    else if (entry.isFile()) bytes += (await lstat(location)).size;
  }
  return bytes;
}

async function copyInto(source: string, target: string): Promise<void> {
  const share = (await succeeds('cp', ['--reflink=auto', '--version'])) ? ['--reflink=auto'] : [];
  const { exitCode, stderr } = await runProgram('cp', ['-a', ...share, '--', `${source}/.`, target]);
  if (exitCode === 0) return;
  const lines = stderr.split('\n').filter((line) => line !== '');
  // What a running sandbox removes while it is copied was not there at the end, so it is no loss.
  const vanished =
    exitCode === 1 && lines.length > 0 && lines.every((line) => line.endsWith('No such file or directory'));
  if (!vanished) throw new MachineError('copy_failed', `The disk could not be copied: ${lines.at(-1) ?? 'cp failed'}`);
}

async function putInPlace(copy: string, target: string, unfinished: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await discardTree(target, unfinished);
    try {
      return await rename(copy, target);
    } catch (error) {
      // Another copy got there in between.
      if (attempt === 10 || !(hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST'))) throw error;
    }
  }
}

async function moveAway(path: string, grave: string): Promise<void> {
  try {
    await rename(path, grave);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!(hasCode(error, 'EACCES') || hasCode(error, 'EPERM'))) throw error;
    await makeWritable(Buffer.from(path));
    await rm(path, { recursive: true, force: true });
  }
}

/** Package caches are often kept read-only, and what is in such a folder cannot be removed. */
async function makeWritable(folder: Buffer): Promise<void> {
  await chmod(folder, 0o700);
  for await (const { entry, location } of listFolder(folder)) if (entry.isDirectory()) await makeWritable(location);
}
