/** The folder of the pipes of running sandboxes. After a crash, nothing in it is needed. */
import { createHash } from 'node:crypto';
import { lstat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '../../../os/make-folders.js';

/** Named pipes hold no data, but on a disk their names take half of the time of a command. */
const memoryFolder = '/dev/shm';
const memoryFileSystem = 0x01021994;

/**
 * Creates the folder, in memory if that is possible, and otherwise in `root`. Only its owner may enter it. Safe to
 * repeat: every start of a service with this `root` gets the same folder.
 */
export async function makePipesFolder(root: string): Promise<string> {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 32);
  const inMemory = join(memoryFolder, `sandflow-${name}`);
  if ((await isMemory(memoryFolder)) && (await makePrivateFolder(inMemory))) return inMemory;
  const onDisk = join(root, 'running');
  await makeFolders(onDisk, { mode: 0o700 });
  return onDisk;
}

async function isMemory(folder: string): Promise<boolean> {
  return await statfs(folder).then(
    ({ type }) => type === memoryFileSystem,
    () => false,
  );
}

/** Everybody may create folders beside it, so one of that name may be somebody else's. */
async function makePrivateFolder(folder: string): Promise<boolean> {
  try {
    await makeFolders(folder, { mode: 0o700 });
    const stats = await lstat(folder);
    return stats.isDirectory() && stats.uid === process.geteuid?.() && (stats.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
