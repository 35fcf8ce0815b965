/**
 * Resolves a path on a disk as the sandbox would, without ever leaving the disk. Each folder is opened from its parent,
 * and links are resolved here instead of by the kernel. So a sandbox that replaces a folder with a link meanwhile gains
 * nothing.
 */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { posix } from 'node:path';
import { MachineError } from '../machine-error.js';
import { sandboxHome } from './directories.js';
import {
  kindOf,
  linkTarget,
  makeFolder,
  notAFile,
  type OpenFolder,
  openFile,
  openFolder,
  openRoot,
  removeFile,
} from './folder.js';

const maxLinks = 40;
/** Bounded, because each folder on the way takes a file handle, and all sandboxes share the handles of the service. */
const maxDepth = 256;

export type OpenPlace =
  | { readonly kind: 'file'; readonly handle: FileHandle }
  | {
      readonly kind: 'folder';
      readonly folder: OpenFolder;
      /** The path relative to the home; empty for the home itself. */
      readonly names: string;
    };

interface WalkOptions {
  /** Creates the folders that are missing. */
  readonly makeFolders?: boolean;
  /** Throws `not_found` for a path with a link, which may lead elsewhere later. */
  readonly refuseLinks?: boolean;
}

/**
 * Opens the file at `path`, which is relative to the home, or absolute below `/home/sandbox`.
 * @throws MachineError `outside`, `not_found`, `not_a_file`, `no_access`
 */
export async function openOnDisk(
  disk: string,
  path: string,
  flags: number,
  options: WalkOptions = {},
): Promise<FileHandle> {
  return await withFolders(disk, path, options, async (folders, name) => {
    const folder = folders.at(-1);
    if (folder === undefined || name === undefined) throw notAFile(path);
    return await openFile(folder, name, flags, path);
  });
}

/**
 * Removes the file at `path`, unless the path contains a link.
 * @throws MachineError as `openOnDisk`
 */
export async function removeOnDisk(disk: string, path: string): Promise<void> {
  await withFolders(disk, path, { refuseLinks: true }, async (folders, name) => {
    const folder = folders.at(-1);
    if (folder === undefined || name === undefined) throw notAFile(path);
    await removeFile(folder, name, path);
  });
}

/**
 * Opens the file or the folder at `path` for reading; an empty path means the home itself. The caller closes it.
 * @throws MachineError `outside`, `not_found`, `not_a_file` for a device, a pipe or a socket, `no_access`
 */
export async function openPlace(disk: string, path: string): Promise<OpenPlace> {
  return await withFolders(disk, path, {}, async (folders, name) => {
    const here = folders.at(-1);
    if (here === undefined) throw outside(path);
    if (name === undefined) folders.pop();
    else if ((await kindOf(here, name)) !== 'folder') {
      return { kind: 'file', handle: await openFile(here, name, constants.O_RDONLY, path) };
    }
    const folder = name === undefined ? here : await openFolder(here, name, path);
    return { kind: 'folder', folder, names: posix.relative(disk, folder.path) };
  });
}

/** Walks to `path`, calls `use`, and then closes all folders that `use` leaves in the list. */
async function withFolders<T>(
  disk: string,
  path: string,
  options: WalkOptions,
  use: (folders: OpenFolder[], name: string | undefined) => Promise<T>,
): Promise<T> {
  const folders: OpenFolder[] = [];
  try {
    folders.push(await openRoot(disk, path));
    return await use(folders, await walk(folders, path, options));
  } finally {
    await Promise.all(folders.map(({ handle }) => handle.close()));
  }
}

/**
 * Opens the folders on the way to `path` and adds them to `folders`.
 * @returns the last name, which is in the last folder and is not a link; undefined if the path leads to that folder
 *   itself
 */
async function walk(
  folders: OpenFolder[],
  path: string,
  { makeFolders, refuseLinks }: WalkOptions,
): Promise<string | undefined> {
  let names = namesBelowHome(path, path);
  for (let links = 0; ; ) {
    const name = names.shift();
    if (name === undefined) return undefined;
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
      if (refuseLinks) throw new MachineError('not_found', `${path} contains a link.`);
      links += 1;
      if (links > maxLinks) throw new MachineError('not_found', `${path} contains a loop of links.`);
      if (posix.isAbsolute(target)) {
        await Promise.all(folders.splice(1).map(({ handle }) => handle.close()));
        names = [...namesBelowHome(target, path), ...names];
      } else names = [...target.split('/'), ...names];
      continue;
    }
    if (names.length === 0) return name;
    if (makeFolders) {
      if (names.every((rest) => rest === '' || rest === '.')) throw notAFile(path);
      await makeFolder(folder, name, path);
    }
    if (folders.length > maxDepth) {
      throw new MachineError('no_access', `The path is nested more than ${maxDepth} folders deep.`);
    }
    folders.push(await openFolder(folder, name, path));
  }
}

function namesBelowHome(target: string, path: string): string[] {
  if (target.includes('\0')) throw outside(path);
  if (!posix.isAbsolute(target)) return target.split('/');
  // The path is not normalised as a whole: if "a" is a link, "a/.." is not the folder that holds "a".
  const names = target.split('/').filter((name) => name !== '' && name !== '.');
  const home = sandboxHome.slice(1).split('/');
  if (home.some((name, index) => names[index] !== name)) throw outside(path);
  return names.slice(home.length);
}

function outside(path: string): MachineError {
  return new MachineError(
    'outside',
    `${path} is outside the disk of the sandbox. Specify a path below ${sandboxHome}.`,
  );
}
