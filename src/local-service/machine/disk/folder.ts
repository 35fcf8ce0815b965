/** Opens what lies in an opened folder, one name at a time, without following a link and without waiting for anything. */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { MachineError } from '../machine-error.js';
import { fileError, hasCode } from './file-error.js';

export interface OpenFolder {
  readonly handle: FileHandle;
  /** Path of the folder when it was opened; used only if a folder cannot be named by its handle. */
  readonly path: string;
}

type NameKind = 'file' | 'folder' | 'special' | 'none';

const hasDescriptorPaths = existsSync('/proc/self/fd');

/**
 * A path of an opened folder that stays with it, wherever the folder is moved. Also for the working directory of a child
 * process. Where the system has no such paths, a race is possible; only Linux has isolation that it could break.
 */
export function folderLocation({ handle, path }: OpenFolder): string {
  return descriptorPath(handle) ?? path;
}

/** Undefined if the system has no such paths. */
export function descriptorPath({ fd }: FileHandle): string | undefined {
  return hasDescriptorPaths ? `/proc/self/fd/${fd}` : undefined;
}

/** `path`, here and below, is the requested path, which errors name. */
export async function openRoot(disk: string, path: string): Promise<OpenFolder> {
  return await openDirectory(disk, disk, path);
}

export async function openFolder(folder: OpenFolder, name: string, path: string): Promise<OpenFolder> {
  return await openDirectory(inside(folder, name), join(folder.path, name), path);
}

/** @throws MachineError `not_a_file` for folders, and for devices, pipes and sockets, which are not even opened */
export async function openFile(folder: OpenFolder, name: string, flags: number, path: string): Promise<FileHandle> {
  // Opening alone has an effect on some devices.
  if ((await kindOf(folder, name)) === 'special') throw notAFile(path, 'a device, pipe or socket');
  try {
    // Not blocking: a named pipe that was put there meanwhile must not hold the service.
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

/** `none` also for what cannot be read: opening it says why. */
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

/** Undefined for what is no link, or is not there. */
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
