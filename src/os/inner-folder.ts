/**
 * Creates folders below a folder of ours that other users may write to. No link in it is followed, since it could lead
 * elsewhere. A forged result of a batch wrote files anywhere, and a link in a cloned project led --get into another
 * folder.
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
  // In a new folder there is nothing to look at, so each level costs one call.
  let isNew = false;
  for (const part of relative(root, dirname(resolve(place))).split(sep)) {
    if (part === '') continue;
    at = join(at, part);
    if (!isNew && (await isFolder(at))) continue;
    isNew = await makeOne(at, mode);
  }
}

/**
 * @returns false if somebody else has made the folder in the meantime
 * @throws Error if that is no folder
 */
async function makeOne(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await isFolder(path))) throw error;
    return false;
  }
}

/**
 * @returns false if there is nothing
 * @throws Error if there is a link or a file
 */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await lstat(path)).isDirectory()) return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  throw new Error(`${path} is not a folder`);
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
