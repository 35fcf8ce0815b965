/** Makes the folders of a tree writable, so that their owner can remove it. Package caches are often read-only. */
import { constants } from 'node:fs';
import { chmod, type FileHandle, open } from 'node:fs/promises';
import { hasCode } from './file-error.js';
import { descriptorPath } from './folder.js';
import { listFolder } from './listing.js';

/** `O_PATH`, which also opens folders that may not be read. Node has no constant for it. Only Linux has it. */
const oPath = 0o10000000;

/**
 * Gives the owner all permissions on every folder. A process may still replace folders with links, so each folder is
 * opened without following links and changed through its descriptor. Folders that vanish meanwhile are skipped.
 */
export async function makeWritable(folder: string): Promise<void> {
  const open: OpenLevel[] = [];
  try {
    await enter(Buffer.from(folder), open);
    for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
      const next = level.inner.pop();
      if (next !== undefined) await enter(next, open);
      // Close the level as soon as its last folder is entered: one handle per level would use up the service's handles.
      if (level.inner.length === 0) await open.splice(open.indexOf(level), 1)[0]?.handle.close();
    }
  } finally {
    await Promise.all(open.map(({ handle }) => handle.close()));
  }
}

interface OpenLevel {
  readonly handle: FileHandle;
  /** The paths, by way of the handle, of its folders that are not entered yet. */
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
