/** Creates a folder with the folders above it. */
import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Where the system answers ENOENT although the folder above exists, the recursive `mkdir` of Node 20 repeats its call for
 * ever: a stack with SANDFLOW_HOME=/proc/x hung with a busy core. This function fails. Safe to repeat.
 * @param mode of the folders that are created. Default: as the umask leaves it
 */
export async function makeFolders(path: string, { mode }: { readonly mode?: number } = {}): Promise<void> {
  if (await isFolder(path)) return;
  if (dirname(path) !== path) await makeFolders(dirname(path), { mode });
  await mkdir(path, { mode }).catch(async (error: unknown) => {
    // Somebody else may have made it at the same time.
    if (!(await isFolder(path))) throw error;
  });
}

/** Like `makeFolders`, for callers that cannot wait. */
export function makeFoldersSync(path: string, { mode }: { readonly mode?: number } = {}): void {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  if (dirname(path) !== path) makeFoldersSync(dirname(path), { mode });
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isThere()) throw error;
  }
}

export function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
