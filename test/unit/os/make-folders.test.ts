import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolders } from '../../../src/os/make-folders.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

describe('makeFolders', () => {
  it('creates the folders above, with the mode, and is safe to repeat and to run twice at once', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b', 'c');
    await Promise.all([makeFolders(path, { mode: 0o700 }), makeFolders(path, { mode: 0o700 })]);
    await makeFolders(path);
    for (const one of [path, join(path, '..'), join(path, '..', '..')])
      expect((await stat(one)).mode & 0o777).toBe(0o700);
  });

  it('ends where the system answers ENOENT although the folder above exists', async () => {
    await expect(makeFolders('/proc/nosuch/x')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses a file in the way', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    await expect(makeFolders(file)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolders(join(file, 'x', 'y'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
