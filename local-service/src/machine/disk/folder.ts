/** Opens the entries of an opened folder, one name at a time. It never follows a link and never blocks. */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { MachineError } from '../machine-error.js';
import { fileError, hasCode } from './file-error.js';

export interface OpenFolder {
  readonly handle: FileHandle;
  /** The path of the folder when it was opened. It is used only if the system has no paths for handles. */
  readonly path: string;
}

type NameKind = 'file' | 'folder' | 'special' | 'none';

const hasDescriptorPaths = existsSync('/proc/self/fd');

/**
 * A path that leads to the opened folder even after the folder is moved. It also serves as working directory of a child
 * process. On a system without such paths, a race is possible, but only Linux has isolation that the race could break.
 */
export function folderLocation({ handle, path }: OpenFolder): string {
  return descriptorPath(handle) ?? path;
}

/** Undefined if the system has no paths for descriptors. */
export function descriptorPath({ fd }: FileHandle): string | undefined {
  return hasDescriptorPaths ? `/proc/self/fd/${fd}` : undefined;
}

/** Opens the top folder of a disk. Here and below, `path` is the requested path, for use in error messages. */
export async function openRoot(disk: string, path: string): Promise<OpenFolder> {
  return await openDirectory(disk, disk, path);
}

export async function openFolder(folder: OpenFolder, name: string, path: string): Promise<OpenFolder> {
  return await openDirectory(inside(folder, name), join(folder.path, name), path);
}

/** @throws MachineError `not_a_file` for a folder, device, pipe or socket. The last three are not even opened. */
export async function openFile(folder: OpenFolder, name: string, flags: number, path: string): Promise<FileHandle> {
  // On some devices, opening alone has an effect.
  if ((await kindOf(folder, name)) === 'special') throw notAFile(path, 'a device, pipe or socket');
  try {
    // Without blocking: if a named pipe was put there meanwhile, the service must not wait for it.
    return await open(inside(folder, name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644);
  } catch (cause) {
    throw fileError(cause, path);
  }
}

/** @throws MachineError `not_a_file` for a folder, `not_found` if nothing has the name */
export async function removeFile(folder: OpenFolder, name: string, path: string): Promise<void> {
  if ((await kindOf(folder, name)) === 'folder') throw notAFile(path);
  try {
    await unlink(inside(folder, name));
  } catch (cause) {
    throw fileError(cause, path);
  }
}

/** Also returns `none` if the entry cannot be read. Opening it then reports the reason. */
export async function kindOf(folder: OpenFolder, name: string): Promise<NameKind> {
  try {
    const stats = await lstat(inside(folder, name));
    if (stats.isDirectory()) return 'folder';
    return stats.isFile() || stats.isSymbolicLink() ? 'file' : 'special';
  } catch {
    return 'none';
  }
}

export async function makeFolder(folder: OpenFolder, name: string, path: string): Promise<void> {
  try {
    await mkdir(inside(folder, name), 0o755);
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw fileError(cause, path);
  }
}

/** Undefined if the entry is not a link, or does not exist. */
export async function linkTarget(folder: OpenFolder, name: string): Promise<string | undefined> {
  try {
    return await readlink(inside(folder, name));
  } catch {
    return undefined;
  }
}

export function notAFile(path: string, what = 'a folder'): MachineError {
  return new MachineError('not_a_file', `${path} is ${what}, not a file.`);
}

async function openDirectory(location: string, folderPath: string, path: string): Promise<OpenFolder> {
  try {
    const handle = await open(location, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    return { handle, path: folderPath };
  } catch (cause) {
    throw fileError(cause, path);
  }
}

function inside(folder: OpenFolder, name: string): string {
  return join(folderLocation(folder), name);
}
