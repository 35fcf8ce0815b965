/** Lists the content of a folder of a snapshot. */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { MachineError } from '../machine-error.js';
import { fileError, hasCode } from './file-error.js';
import { folderLocation } from './folder.js';
import { listFolder } from './listing.js';
import { openPlace } from './walk.js';

export interface TreeEntry {
  /** Relative to the home. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** The bytes of a file, or of the target path of a link; 0 for a folder. */
  readonly size: number;
  /** ISO 8601, UTC. */
  readonly modifiedAt: string;
}

const maxTreeEntries = 100_000;
/** The most characters of all paths together, because each path repeats the names of the folders above it. */
const maxTreeCharacters = 32 * 1024 * 1024;
/** A sandbox may set any time. Times outside of the years 1 to 9999 are clamped. */
const earliestMs = Date.parse('0001-01-01T00:00:00.000Z');
const latestMs = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Paths below the folder are built from names, which is safe because a snapshot never changes: no folder becomes a
 * link.
 * @throws MachineError as `MachineHost.tree`
 */
export async function listTree(snapshot: string, path: string, maxEntries = maxTreeEntries): Promise<TreeEntry[]> {
  const place = await openPlace(snapshot, path);
  if (place.kind === 'file') {
    await place.handle.close();
    throw new MachineError('not_a_folder', `${path} is a file. Specify the path of a folder.`);
  }
  try {
    return await listBelow(Buffer.from(folderLocation(place.folder)), place.names, maxEntries);
  } catch (error) {
    if (hasCode(error, 'ENAMETOOLONG')) throw tooDeep();
    // The snapshot may have been deleted meanwhile.
    throw fileError(error, path);
  } finally {
    await place.folder.handle.close();
  }
}

async function listBelow(top: Buffer, names: string, maxEntries: number): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  let characters = 0;
  const folders = [{ location: top, names }];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const { name, location } of listFolder(folder.location)) {
      const path = join(folder.names, name);
      const entry = entryOf(path, await lstat(location));
      if (entry === undefined) continue;
      characters += path.length;
      if (entries.length === maxEntries || characters > maxTreeCharacters) throw tooMany(maxEntries);
      entries.push(entry);
      if (entry.type === 'directory') folders.push({ location, names: path });
    }
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Undefined for devices, pipes and sockets. */
function entryOf(path: string, stats: Stats): TreeEntry | undefined {
  const modifiedAt = new Date(Math.min(Math.max(stats.mtimeMs, earliestMs), latestMs)).toISOString();
  if (stats.isFile()) return { path, type: 'file', size: stats.size, modifiedAt };
  if (stats.isSymbolicLink()) return { path, type: 'symlink', size: stats.size, modifiedAt };
  return stats.isDirectory() ? { path, type: 'directory', size: 0, modifiedAt } : undefined;
}

function tooMany(maxEntries: number): MachineError {
  const message = `The folder has more than ${maxEntries} entries, or their paths are too long. Specify the path of a subfolder.`;
  return new MachineError('too_large', message);
}

function tooDeep(): MachineError {
  const message = 'The folder has subfolders that are nested too deeply to be listed. Specify the path of one of them.';
  return new MachineError('too_large', message);
}
