/** Checks every entry of an unpacked archive before any of them is opened. */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { visitTree } from '../machine/index.js';
import { badArchive } from './unpack.js';

/** The disk or the snapshot that an entry belongs to, such as `machines/disks/bx_…`. */
const ownerPattern = /^machines\/(?:disks|snapshots)\/[^/]+(?=\/)/;

/**
 * Checks the entries of an archive. A disk may hold what a sandbox can create: files, folders, links, pipes and
 * sockets. Nobody outside the sandbox follows its links or waits for its pipes. Everywhere else only files and folders
 * are allowed. No file may have a second name in another disk or in the state itself. Otherwise one sandbox could write
 * to another one, or to the database.
 * @throws ServiceError `bad_archive`
 */
export async function inspectTree(
  folder: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<void> {
  const names = new Map<string, { readonly owner: string | undefined; seen: number; readonly all: number }>();
  let bytes = 0;
  await visitTree(Buffer.from(folder), async ({ location }, path) => {
    signal.throwIfAborted();
    const owner = ownerPattern.exec(path)?.[0];
    const stats = await lstat(location);
    if (!isAllowed(stats, owner !== undefined))
      throw badArchive(`it contains ${path}, which is not part of an exported state.`);
    if (stats.isDirectory()) return;
    bytes += stats.size;
    if (bytes > maxBytes) throw badArchive(`its files have more than ${maxBytes} bytes.`);
    if (stats.nlink === 1) return;
    const id = `${stats.dev} ${stats.ino}`;
    const known = names.get(id) ?? { owner, seen: 0, all: stats.nlink };
    if (known.owner !== owner || owner === undefined) throw badArchive(`it contains ${path}, which two disks share.`);
    known.seen += 1;
    names.set(id, known);
  });
  if ([...names.values()].some(({ seen, all }) => seen !== all))
    throw badArchive('it contains hard links to files outside of the archive.');
}

function isAllowed(stats: Stats, inDisk: boolean): boolean {
  if (stats.isFile() || stats.isDirectory()) return true;
  return inDisk && (stats.isSymbolicLink() || stats.isFIFO() || stats.isSocket());
}
