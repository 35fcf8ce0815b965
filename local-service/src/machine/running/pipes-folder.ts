/** The folders of the pipes of running sandboxes. After a crash, nothing in them is needed. */
import { createHash } from 'node:crypto';
import { lstat, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '../../../../src/os/make-folders.js';

/** Named pipes hold no data, but on a disk their names take half of the time of a command. */
const memoryFolder = '/dev/shm';
const memoryFileSystem = 0x01021994;

/**
 * Creates a folder in memory, if that is possible, and one in `root`, for when memory is full or was cleared. Only
 * their owner may enter them. Safe to repeat: every start of a service with this `root` gets the same folders.
 * @returns the folders, the faster one first
 */
export async function makePipesFolders(root: string): Promise<string[]> {
  // Not its path: services in containers may share the memory, and each have another folder of the same path.
  const { dev, ino } = await stat(root);
  const name = createHash('sha256').update(`${dev} ${ino}`).digest('hex').slice(0, 32);
  const inMemory = join(memoryFolder, `sandflow-${name}`);
  const onDisk = join(root, 'running');
  await makeFolders(onDisk, { mode: 0o700 });
  return (await isMemory(memoryFolder)) && (await makePrivateFolder(inMemory)) ? [inMemory, onDisk] : [onDisk];
}

/** True if the folder exists and only this user may enter it. */
export async function isPrivateFolder(folder: string): Promise<boolean> {
  try {
    const stats = await lstat(folder);
    return stats.isDirectory() && stats.uid === process.geteuid?.() && (stats.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

async function isMemory(folder: string): Promise<boolean> {
  return await statfs(folder).then(
    ({ type }) => type === memoryFileSystem,
    () => false,
  );
}

/** Everybody may create folders beside it, so one of that name may be somebody else's. */
async function makePrivateFolder(folder: string): Promise<boolean> {
  await makeFolders(folder, { mode: 0o700 }).catch(() => undefined);
  return await isPrivateFolder(folder);
}
