/** Creates a folder with the folders above it. */
import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Below /proc, the system answers ENOENT although the folder above exists. The recursive `mkdir` of Node then repeats
 * its call for ever, and this function fails. Safe to repeat.
 * @param mode of the folders that are created. Default: as the umask leaves it
 */
export async function makeFolders(path: string, { mode }: { readonly mode?: number } = {}): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await isFolder(path))) return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    // Somebody else may have made the folder above since then, and may make this one at the same time.
    if (!(await isFolder(dirname(path)))) await makeFolders(dirname(path), { mode });
    await mkdir(path, { mode }).catch(async (again: unknown) => {
      if (!(await isFolder(path))) throw again;
    });
  }
}

/** Like `makeFolders`, for callers that cannot wait. */
export function makeFoldersSync(path: string, { mode }: { readonly mode?: number } = {}): void {
  const isThere = (folder: string) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && isThere(path)) return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    if (!isThere(dirname(path))) makeFoldersSync(dirname(path), { mode });
    try {
      mkdirSync(path, { mode });
    } catch (again) {
      if (!isThere(path)) throw again;
    }
  }
}

export function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
