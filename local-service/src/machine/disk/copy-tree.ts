/** Copies, measures and removes whole directories. Links are never followed. */
import { lstat, mkdtemp, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MachineError } from '../machine-error.js';
import { runProgram, succeeds } from '../program.js';
import { hasCode } from './file-error.js';
import { type ListedName, listFolder, visitTree } from './listing.js';
import { makeWritable } from './make-writable.js';

/**
 * How `cp` is started. `cp` follows links in the path of each file that it copies. If a sandbox replaces a folder with
 * a link at that moment, it can make `cp` read any path. So a disk in use is copied by an isolated `cp`.
 */
export type CopyCall = (
  options: readonly string[],
  source: string,
  target: string,
) => { readonly file: string; readonly args: readonly string[] };

const vanishedPattern = /^cp: .*: No such file or directory$/;

const openCopy: CopyCall = (options, source, target) => ({
  file: 'cp',
  args: [...options, '--', `${source}/.`, target],
});

/**
 * Replaces `target` with a copy of `source`, including modes, times and links. The copy shares blocks if the file
 * system supports it. It is created under `unfinished` and then renamed, so `target` is never incomplete. Safe to
 * repeat.
 * @param options.signal ends the copy; nothing is left of it, unless it is in place already
 * @returns the size of the copy in bytes
 * @throws MachineError `copy_failed`
 */
export async function replaceByCopy(
  source: string,
  target: string,
  unfinished: string,
  { copyCall = openCopy, signal }: { readonly copyCall?: CopyCall | undefined; readonly signal?: AbortSignal } = {},
): Promise<number> {
  return await replaceTree(target, unfinished, (copy) => copyInto(source, copy, { copyCall, signal }), signal);
}

/**
 * Replaces `target` with a new directory. `fill` fills it under `unfinished`, so `target` is never incomplete. Safe to
 * repeat.
 * @returns its size in bytes
 * @throws what `fill` throws; nothing is left then
 */
export async function replaceTree(
  target: string,
  unfinished: string,
  fill: (folder: string) => Promise<void>,
  signal?: AbortSignal,
): Promise<number> {
  const made = await mkdtemp(join(unfinished, `${basename(target)}-`));
  try {
    await fill(made);
    // Measured before another call can replace it.
    const sizeBytes = await treeSize(made, signal);
    signal?.throwIfAborted();
    await putInPlace(made, target, unfinished);
    return sizeBytes;
  } catch (error) {
    await removeTree(made);
    throw error;
  }
}

/** Moves the directory away at once, then removes it with its content. Repeating it changes nothing. */
export async function discardTree(path: string, unfinished: string): Promise<void> {
  const grave = await mkdtemp(join(unfinished, 'discarded-'));
  const tree = join(grave, 'tree');
  const isMoved = await moveAway(path, tree);
  if (!isMoved || (await removeShallow(tree))) await rmdir(grave);
  else await removeTree(grave);
}

/** The bytes of all files. A file with several hard links counts once for each. */
async function treeSize(folder: string, signal: AbortSignal | undefined): Promise<number> {
  let bytes = 0;
  await visitTree(Buffer.from(folder), async ({ entry, location }) => {
    signal?.throwIfAborted();
    if (entry.isFile()) bytes += (await lstat(location)).size;
  });
  return bytes;
}

/** Whether `cp` has the option that shares blocks. It is asked once: the program stays the same. */
let sharesBlocks: Promise<boolean> | undefined;

/** @throws MachineError `copy_failed` */
async function copyInto(
  source: string,
  target: string,
  { copyCall, signal }: { readonly copyCall: CopyCall; readonly signal: AbortSignal | undefined },
): Promise<void> {
  sharesBlocks ??= succeeds('cp', ['--reflink=auto', '--version']);
  const share = (await sharesBlocks) ? ['--reflink=auto'] : [];
  const { file, args } = copyCall(['-a', ...share], source, target);
  // The next service removes what a killed one was copying, which fails while anything is still added to it.
  const { exitCode, stderr } = await runProgram(file, args, { signal, isBound: true });
  if (exitCode === 0) return;
  const lines = stderr.split('\n').filter((line) => line !== '');
  // If a running sandbox removes a file during the copy, the copy need not contain it.
  const vanished = exitCode === 1 && lines.length > 0 && lines.every((line) => vanishedPattern.test(line));
  if (vanished) return;
  const reason = lines.find((line) => !vanishedPattern.test(line)) ?? 'cp failed';
  throw new MachineError('copy_failed', `The disk could not be copied: ${reason.slice(0, 500)}`);
}

async function putInPlace(copy: string, target: string, unfinished: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await discardTree(target, unfinished);
    try {
      return await rename(copy, target);
    } catch (error) {
      // Another copy was put in place in between.
      if (attempt === 10 || !(hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST'))) throw error;
    }
  }
}

async function moveAway(path: string, grave: string): Promise<boolean> {
  try {
    await rename(path, grave);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** More names than these are left to `rm`, which is faster then. */
const maxShallowNames = 100;

/**
 * Removes a folder of a few files and empty folders without starting a program, which takes much longer in a large
 * process. It enters no inner folder, and removing a name follows no link. So a process that still works in the tree
 * cannot lead the removal out of the tree. Such a process must not be able to replace `path` itself.
 * @returns false if something is left, in folders for example
 */
async function removeShallow(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isDirectory()) return false;
    const listed: ListedName[] = [];
    for await (const one of listFolder(Buffer.from(path))) {
      if (listed.length === maxShallowNames) return false;
      listed.push(one);
    }
    for (const { location, entry } of listed) await (entry.isDirectory() ? rmdir(location) : unlink(location));
    await rmdir(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Also removes read-only folders, and folders nested deeper than the longest possible path. The system's `rm` goes from
 * folder to folder by descriptors. So a process that still works in the tree cannot lead it out of the tree.
 */
export async function removeTree(path: string): Promise<void> {
  const { exitCode } = await runProgram('rm', ['-rf', '--', path]);
  if (exitCode === 0) return;
  await makeWritable(path);
  const second = await runProgram('rm', ['-rf', '--', path]);
  if (second.exitCode !== 0)
    throw new Error(`A folder could not be removed: ${second.stderr.trim().split('\n').at(-1)}`);
}
