/** Where the pipes of running sandboxes are. Unit tier: milliseconds. */
import { chmod, lstat, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makePipesFolder } from '../../../../src/local-service/machine/running/pipes-folder.js';
import { temporaryDirectory } from '../../cli/temporary-directory.js';

const hasMemory = await statfs('/dev/shm').then(
  ({ type }) => type === 0x01021994,
  () => false,
);

async function folderFor(root: string): Promise<string> {
  const folder = await makePipesFolder(root);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it('belongs to one data folder, and only its owner may enter it', async () => {
  const [root, other] = [await temporaryDirectory(), await temporaryDirectory()];
  const folder = await folderFor(root);
  expect(await folderFor(root)).toBe(folder);
  expect(await folderFor(other)).not.toBe(folder);
  expect((await lstat(folder)).mode & 0o777).toBe(0o700);
});

it.runIf(hasMemory)('is in memory, unless a folder or file of that name is open to others', async () => {
  const root = await temporaryDirectory();
  const folder = await folderFor(root);
  expect(folder).toMatch(/^\/dev\/shm\/sandflow-/);
  expect(await readdir(root)).toEqual([]);
  await chmod(folder, 0o755);
  expect(await folderFor(root)).toBe(join(root, 'running'));
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  expect(await folderFor(root)).toBe(join(root, 'running'));
});
