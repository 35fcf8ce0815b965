/**
 * Creates folders below a folder of ours that other users may write to. No link in it is followed, since it could lead
 * elsewhere. A forged result of a batch wrote files anywhere, and a link in a cloned project led --get into another
 * folder.
 */
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * @returns a function that says whether a folder of `root`, or `root` itself, is reached without a link below `root`. It
 * throws the error of the file system if there is no such folder
 */
export function createLinkCheck(root: string): (folder: string) => Promise<boolean> {
  let realRoot: string | undefined;
  return async (folder) => {
    // With a separator at its end, the path of a file is refused.
    const real = await realpath(folder + sep);
    const isBelow = () => realRoot !== undefined && real === join(realRoot, relative(root, folder));
    if (isBelow()) return true;
    // For the first time, or because `root` has become a link to another place.
    realRoot = await realpath(root);
    return isBelow();
  };
}

/**
 * Creates the folder that contains `place`, below `base`. `base` must exist. Safe to repeat.
 * @param options.mode of created folders, subject to the umask. Default: 0o777
 * @param options.isWithoutLinks the link check of `base`. Default: a new one
 * @throws Error if `place` is outside of `base`, or if a link or a file is on the way to it
 */
export async function makeFolderOf(
  place: string,
  base: string,
  { mode = 0o777, isWithoutLinks = createLinkCheck(resolve(base)) } = {},
): Promise<void> {
  const root = resolve(base);
  if (!resolve(place).startsWith(root + sep)) throw new Error(`it would be outside ${root}`);
  // From the bottom: for all files but its first, the folder is there. That is one look, however deep it is.
  const make = async (folder: string): Promise<void> => {
    if (folder === root || (await isWithoutLinks(folder).catch(() => false))) return;
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
