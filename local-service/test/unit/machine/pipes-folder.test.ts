/** Where the pipes of running sandboxes are. Unit tier: milliseconds. */
import { chmod, lstat, mkdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../../../test/unit/cli/temporary-directory.js';
import { makePipesFolders } from '../../../src/machine/running/pipes-folder.js';

const hasMemory = await statfs('/dev/shm').then(
  ({ type }) => type === 0x01021994,
  () => false,
);

async function foldersFor(root: string): Promise<string[]> {
  const folders = await makePipesFolders(root);
  for (const folder of folders) onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folders;
}

it('belong to one data folder, and only their owner may enter them', async () => {
  const [root, other] = [await temporaryDirectory(), await temporaryDirectory()];
  const folders = await foldersFor(root);
  expect(await foldersFor(root)).toEqual(folders);
  expect(await foldersFor(other)).not.toEqual(expect.arrayContaining([folders[0]]));
  for (const folder of folders) expect((await lstat(folder)).mode & 0o777).toBe(0o700);
});

it('stay those of a data folder that moves, and are not those of the next one at its path', async () => {
  const parent = await temporaryDirectory();
  const root = join(parent, 'data');
  await mkdir(root);
  const [folder] = await foldersFor(root);
  await rename(root, join(parent, 'moved'));
  await mkdir(root);
  expect((await foldersFor(root))[0]).not.toBe(hasMemory ? folder : '');
  expect((await foldersFor(join(parent, 'moved')))[0]).toBe(hasMemory ? folder : join(parent, 'moved', 'running'));
});

it.runIf(hasMemory)('are in memory too, unless a folder or file of that name is open to others', async () => {
  const root = await temporaryDirectory();
  const onDisk = join(root, 'running');
  const [folder = '', ...others] = await foldersFor(root);
  expect(folder).toMatch(/^\/dev\/shm\/sandflow-/);
  expect(others).toEqual([onDisk]);
  await chmod(folder, 0o755);
  expect(await foldersFor(root)).toEqual([onDisk]);
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  expect(await foldersFor(root)).toEqual([onDisk]);
});
