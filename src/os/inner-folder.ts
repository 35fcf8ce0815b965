/** Folders below one of ours whose content others may have a hand in: a link there would lead elsewhere. */
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Creates the folder of a place below `base`, which is there, folder by folder. Safe to repeat.
 * @param mode of folders that are made, of which the umask takes its part
 * @throws Error for a place elsewhere, and where a link or a file is on the way
 */
export async function makeFolderOf(place: string, base: string, mode = 0o777): Promise<void> {
  const root = resolve(base);
  if (!resolve(place).startsWith(root + sep)) throw new Error(`its place would not be in ${root}`);
  let at = root;
  for (const part of relative(root, dirname(resolve(place))).split(sep)) {
    if (part === '') continue;
    at = join(at, part);
    await mkdir(at, { mode }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await lstat(at)).isDirectory()) throw new Error(`${at} is no folder`);
  }
}
