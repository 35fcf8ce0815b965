/** Creates folders below one of ours that others may write to: a link there could lead elsewhere. */
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Creates the folder of `place` below `base`, which must exist. Safe to repeat.
 * @param mode of created folders, subject to the umask
 * @throws Error for a place outside of `base`, and for a link or a file on the way
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
    if (!(await lstat(at)).isDirectory()) throw new Error(`${at} is not a folder`);
  }
}
