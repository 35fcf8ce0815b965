/**
 * Finds out whether the disk of this installation is full. Temporal and the local service do not report a full disk.
 * Their calls fail with messages such as `shard status unknown`.
 */
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config.js';
import { isBucketAddress } from '../../texts/bucket-address.js';
import { formatBytes } from '../units.js';

/** Below this, in bytes, writes of the parts fail. */
const fullBelowBytes = 1024 * 1024;
const fullBelowFiles = 16;

type FreeSpace = NonNullable<Awaited<ReturnType<typeof freeSpaceOf>>>;

/**
 * @returns the folder, and what is free on its disk: `files` is null if the file system does not limit their number.
 *   Undefined if neither the folder nor one above it can be read
 */
export async function freeSpaceOf(path: string) {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      const { bavail, bsize, files, ffree } = await statfs(folder);
      return { path, bytes: bavail * bsize, files: files === 0 ? null : ffree };
    } catch {
      if (dirname(folder) === folder) return undefined;
    }
  }
}

function isFull({ bytes, files }: FreeSpace): boolean {
  return bytes < fullBelowBytes || (files !== null && files < fullBelowFiles);
}

/** `12 kB free`, or how few files can be created. */
export function freeText({ bytes, files }: FreeSpace): string {
  return files !== null && files < fullBelowFiles ? `room for ${files} files` : `${formatBytes(bytes)} free`;
}

/** The folders that commands and the embedded stack write to, and their content. A bucket is none. */
export function writtenFolders({ home, results, temporal }: Pick<Config, 'home' | 'results' | 'temporal'>) {
  const database = temporal.configured
    ? []
    : [{ path: home, what: `Temporal's database ${join(home, 'temporal.db')}` }];
  return [
    ...database,
    ...(isBucketAddress(results) ? [] : [{ path: results, what: `the result store ${results}` }]),
    { path: home, what: `SANDFLOW_HOME ${home}` },
  ];
}

/** Says which of these folders is on a full disk; undefined if none is. */
export async function fullDiskText(config: Pick<Config, 'home' | 'results' | 'temporal'>): Promise<string | undefined> {
  for (const { path, what } of writtenFolders(config)) {
    const space = await freeSpaceOf(path);
    if (space && isFull(space)) return `The disk is full (${freeText(space)}): ${what} cannot be written.`;
  }
  return undefined;
}
