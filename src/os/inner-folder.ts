/**
 * Creates folders below a folder of ours that other users may write to. No link in it is followed, since it could lead
 * elsewhere. A forged result of a batch wrote files anywhere, and a link in a cloned project led --get into another
 * folder.
 */
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Creates the folder that contains `place`, below `base`. `base` must exist. Safe to repeat.
 * @param mode of created folders, subject to the umask
 * @throws Error if `place` is outside of `base`, or if a link or a file is on the way to it
 */
export async function makeFolderOf(place: string, base: string, mode = 0o777): Promise<void> {
  const root = resolve(base);
  if (!resolve(place).startsWith(root + sep)) throw new Error(`it would be outside ${root}`);
  const isWithoutLinks = async (folder: string) => {
    // With a separator at its end, the path of a file is refused.
    const paths = await Promise.all([realpath(folder + sep), realpath(root)]).catch(() => undefined);
    return paths !== undefined && paths[0] === join(paths[1], relative(root, folder));
  };
  // From the bottom: for all files but its first, the folder is there. That is one look, however deep it is.
  const make = async (folder: string): Promise<void> => {
    if (folder === root || (await isWithoutLinks(folder))) return;
    await make(dirname(folder));
    await makeOne(folder, mode);
  };
  await make(dirname(resolve(place)));
}

/** @throws Error if there is a link or a file */
async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a folder`);
  }
}
