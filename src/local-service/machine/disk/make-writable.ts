/** Lets the owner of a tree remove what is in it: package caches are often kept read-only. */
import { constants } from 'node:fs';
import { chmod, type FileHandle, open } from 'node:fs/promises';
import { hasCode } from './file-error.js';
import { descriptorPath } from './folder.js';
import { listFolder } from './listing.js';

/** Opens what may not be read too; Node has no name for it. Linux only, as paths of descriptors are. */
const oPath = 0o10000000;

/**
 * Gives every folder its owner's permissions. A process may still swap folders for links in it, so each is opened without
 * following one, and is changed by its descriptor. What vanishes meanwhile is passed over.
 */
export async function makeWritable(folder: string): Promise<void> {
  const open: OpenLevel[] = [];
  try {
    await enter(Buffer.from(folder), open);
    for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
      const next = level.inner.pop();
      if (next !== undefined) await enter(next, open);
      // Closed as soon as its last folder is entered: a handle for each level would use up those of the service.
      if (level.inner.length === 0) await open.splice(open.indexOf(level), 1)[0]?.handle.close();
    }
  } finally {
    await Promise.all(open.map(({ handle }) => handle.close()));
  }
}

interface OpenLevel {
  readonly handle: FileHandle;
  /** Folders in it that are still to be entered; found by the handle. */
  readonly inner: Buffer[];
}

async function enter(location: Buffer, open: OpenLevel[]): Promise<void> {
  const handle = await openWritable(location);
  if (handle === undefined) return;
  const level: OpenLevel = { handle, inner: [] };
  open.push(level);
  const here = Buffer.from(descriptorPath(handle) ?? location);
  for await (const { location: inner, entry } of listFolder(here)) if (entry.isDirectory()) level.inner.push(inner);
}

async function openWritable(location: Buffer): Promise<FileHandle | undefined> {
  const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW;
  try {
    const named = await open(location, process.platform === 'linux' ? flags | oPath : flags);
    const path = descriptorPath(named);
    try {
      await (path === undefined ? named.chmod(0o700) : chmod(path, 0o700));
    } finally {
      await named.close();
    }
    return await open(location, flags);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}
