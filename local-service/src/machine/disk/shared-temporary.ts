/** The temporary folder of sandboxes without isolation: that of the machine, which all of them share. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from './copy-tree.js';

const folder = '/tmp';

/**
 * Removes what jobs left there by the id of a sandbox, since a sandbox with a folder of its own loses it with its disk.
 * Other files stay: nobody knows whose they are. Safe to repeat.
 */
export async function removeFromSharedTemporary(sandboxId: string): Promise<void> {
  const names = await readdir(folder);
  const left = names.filter((name) => name.startsWith(`.sandflow-${sandboxId}-`));
  await Promise.all(left.map(async (name) => await removeTree(join(folder, name))));
}
