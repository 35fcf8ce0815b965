/** Compares two directories that nobody changes. */
import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { visitTree } from './listing.js';

/**
 * True if two copies of a disk hold the same names, with the same types, modes, sizes, times of files and targets of
 * links. The content of files with the same size and time is not compared, as `rsync` does it.
 */
export async function isSameTree(one: string, other: string): Promise<boolean> {
  const [first, second] = [await outline(one), await outline(other)];
  return first.size === second.size && [...first].every(([path, what]) => second.get(path) === what);
}

/** Path → everything that is compared. */
async function outline(root: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const rootBytes = Buffer.from(join(root, '/'));
  await visitTree(Buffer.from(root), async ({ location, entry }) => {
    const { mode, size, mtimeNs } = await lstat(location, { bigint: true });
    // The system sets the size and the time of a folder, so they differ between copies.
    const what = entry.isDirectory() ? '' : `${size} ${mtimeNs}`;
    const target = entry.isSymbolicLink() ? (await readlink(location, { encoding: 'buffer' })).toString('latin1') : '';
    found.set(location.subarray(rootBytes.length).toString('latin1'), `${mode} ${what} ${target}`);
  });
  return found;
}
