import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createLocalService } from '../../../local-service/src/index.js';
import { reserveSecretFile } from '../../../src/bridge/secret-file.js';
import { createNotifySecrets } from '../../../src/notify/secrets.js';
import { tryAcquireFileLock } from '../../../src/os/file-lock.js';
import { makeFolders, makeFoldersSync } from '../../../src/os/make-folders.js';
import { openRotatingLog } from '../../../src/os/rotating-log.js';
import { createResultStore } from '../../../src/result-store/index.js';
import { createSecretStore } from '../../../src/secret-store/index.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

describe('makeFolders', () => {
  it('creates the folders above, with the mode, and is safe to repeat', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b', 'c');
    await makeFolders(path, { mode: 0o700 });
    await makeFolders(path);
    makeFoldersSync(join(path, 'd', 'e'), { mode: 0o700 });
    makeFoldersSync(path);
    for (const one of [path, join(path, '..'), join(path, '..', '..'), join(path, 'd'), join(path, 'd', 'e')])
      expect((await stat(one)).mode & 0o777).toBe(0o700);
  });

  it('may run many times at once', async () => {
    const directory = await temporaryDirectory();
    for (let round = 0; round < 40; round += 1) {
      const path = join(directory, String(round), 'a', 'b', 'c');
      await Promise.all(Array.from({ length: 8 }, () => makeFolders(path)));
      expect((await stat(path)).isDirectory()).toBe(true);
    }
  });

  it('ends where the system answers ENOENT although the folder above exists', async () => {
    await expect(makeFolders('/proc/nosuch/x')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses a file in the way', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    await expect(makeFolders(file)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(() => makeFoldersSync(file)).toThrow('EEXIST');
    await expect(makeFolders(join(file, 'x', 'y'))).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

describe('a folder that can never be made', () => {
  const folder = '/proc/nosuch/x';

  it.each([
    ['the result store', () => createResultStore(folder).put('a', Buffer.from('b'))],
    ['the secret store', () => createSecretStore(folder).put('a', 'b')],
    ['the secret of a bridge', () => reserveSecretFile(join(folder, 'secret'))],
    ['the secrets of notifications', () => createNotifySecrets(join(folder, 'secrets'), { make: true })()],
    ['a lock', async () => tryAcquireFileLock(join(folder, 'lock'))],
    ['a log', async () => openRotatingLog(join(folder, 'log'))],
    ['the local service', () => createLocalService({ directory: folder, apiKey: 'key', log: () => undefined })],
  ])('is refused by %s, not tried forever', async (_, use) => {
    await expect(use()).rejects.toThrow();
  });

  it('is left to makeFolders wherever a user chooses the place', async () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const below = async (folder: string) =>
      (await readdir(join(root, folder), { recursive: true })).map((file) => join(folder, file));
    const files = [...(await below('src')), ...(await below('local-service/src'))].filter((file) =>
      file.endsWith('.ts'),
    );
    const found: string[] = [];
    for (const file of files) {
      const text = await readFile(join(root, file), 'utf8');
      if (/\bmkdir(Sync)?\([^;]*recursive: true/.test(text)) found.push(file);
    }
    // Below a folder that exists.
    expect(found.sort()).toEqual([
      'local-service/src/machine/local-machine-host.ts',
      'local-service/src/machine/running/machines.ts',
      'local-service/src/machine/running/pipe-maker.ts',
    ]);
  });
});
