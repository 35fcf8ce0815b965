import { join, resolve } from 'node:path';
import { namingFullDisk } from '../errors/disk-full.js';
import { makeFolderOf } from '../os/inner-folder.js';
import { UsageError } from './usage-error.js';

/**
 * Creates the default folder for results. A link in its place may come from the code of a project and lead anywhere, so
 * it is refused.
 * @throws UsageError if something else is in its place
 */
export async function makeDefaultFolder(cwd: string, name: string): Promise<void> {
  const folder = resolve(cwd, name);
  await namingFullDisk(folder, () => makeFolderOf(join(folder, 'file'), cwd)).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== undefined) throw cause;
    throw new UsageError(`${folder} is a link or a file. Remove it, or choose another folder with --out.`, { cause });
  });
}
