/**
 * Finds a path on a disk the way the sandbox would, without ever leaving the disk. Each folder is opened from the one before it
 * and no link is left to the kernel, so that a sandbox which swaps a folder for a link meanwhile gains nothing.
 */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { fileError, hasCode } from './file-error.js';
import { SANDBOX_HOME } from './machine-directories.js';
import { MachineError } from './machine-error.js';

const MAX_LINKS = 40;

interface OpenFolder {
  readonly handle: FileHandle;
  readonly path: string;
}

/**
 * Opens the file at `path`: relative to the home, or absolute below `/home/sandbox`.
 * @throws MachineError `outside`, `not_found`, `not_a_file`, `no_access`
 */
export async function openOnDisk(disk: string, path: string, flags: number, makeFolders: boolean): Promise<FileHandle> {
  const folders: OpenFolder[] = [];
  try {
    folders.push(await openFolder(disk, disk, path));
    return await walk(folders, path, flags, makeFolders);
  } finally {
    await Promise.all(folders.map(({ handle }) => handle.close()));
  }
}

async function walk(folders: OpenFolder[], path: string, flags: number, makeFolders: boolean): Promise<FileHandle> {
  let names = namesBelowHome(path, path);
  for (let links = 0; ; ) {
    const name = names.shift();
    if (name === undefined) throw notAFile(path);
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (folders.length === 1) throw outside(path);
      await folders.pop()?.handle.close();
      continue;
    }
    const folder = folders.at(-1);
    if (folder === undefined) throw outside(path);
    const target = await linkTarget(folder, name);
    if (target !== undefined) {
      links += 1;
      if (links > MAX_LINKS) throw new MachineError('not_found', `${path} goes round in a circle of links.`);
      if (posix.isAbsolute(target)) {
        await Promise.all(folders.splice(1).map(({ handle }) => handle.close()));
        names = [...namesBelowHome(target, path), ...names];
      } else names = [...target.split('/'), ...names];
      continue;
    }
    if (names.length === 0) return await openFile(folder, name, flags, path);
    if (makeFolders) {
      if (names.every((rest) => rest === '' || rest === '.')) throw notAFile(path);
      await makeFolder(folder, name, path);
    }
    folders.push(await openFolder(inside(folder, name), join(folder.path, name), path));
  }
}

function namesBelowHome(target: string, path: string): string[] {
  if (target.includes('\0')) throw outside(path);
  if (!posix.isAbsolute(target)) return target.split('/');
  // Not normalised as a whole: "a/.." means something else where "a" is a link.
  const names = target.split('/').filter((name) => name !== '' && name !== '.');
  const home = SANDBOX_HOME.slice(1).split('/');
  if (home.some((name, index) => names[index] !== name)) throw outside(path);
  return names.slice(home.length);
}

async function openFile(folder: OpenFolder, name: string, flags: number, path: string): Promise<FileHandle> {
  try {
    // Not blocking: a named pipe without a writer must not hold the service.
    return await open(inside(folder, name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644);
  } catch (cause) {
    throw fileError(cause, path);
  }
}

async function openFolder(location: string, folderPath: string, path: string): Promise<OpenFolder> {
  try {
    const handle = await open(location, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    return { handle, path: folderPath };
  } catch (cause) {
    throw fileError(cause, path);
  }
}

async function makeFolder(folder: OpenFolder, name: string, path: string): Promise<void> {
  try {
    await mkdir(inside(folder, name), 0o755);
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw fileError(cause, path);
  }
}

/** Undefined for what is no link, or is not there. */
async function linkTarget(folder: OpenFolder, name: string): Promise<string | undefined> {
  try {
    return await readlink(inside(folder, name));
  } catch {
    return undefined;
  }
}

const hasDescriptorPaths = existsSync('/proc/self/fd');

/** Where the system has no such paths, a race is possible; only Linux has isolation that it could break. */
function inside(folder: OpenFolder, name: string): string {
  return hasDescriptorPaths ? `/proc/self/fd/${folder.handle.fd}/${name}` : join(folder.path, name);
}

function notAFile(path: string): MachineError {
  return new MachineError('not_a_file', `${path} is a folder, not a file.`);
}

function outside(path: string): MachineError {
  return new MachineError('outside', `${path} is outside the sandbox's disk: give a path below ${SANDBOX_HOME}.`);
}
