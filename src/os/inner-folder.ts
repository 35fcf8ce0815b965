/**
 * Creates folders below a folder of ours that other users may write to. No link in it is followed, since it could lead
 * elsewhere.
 */
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Creates the folder that contains `place`, below `base`. `base` must exist. Safe to repeat.
 * @param mode of created folders, subject to the umask
 * @throws Error if `place` is outside of `base`, or if a link or a file is on the way to it
 */
export async function makeFolderOf(place: string, base: string, mode = 0o777): Promise<void> {
  const root = resolve(base);
  if (!resolve(place).startsWith(root + sep)) throw new Error(`it would be outside ${root}`);
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
