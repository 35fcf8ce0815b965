import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKeyLine, readKeyRing } from '../../../src/encryption/index.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-keys-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const keyFile = async (name: string, mode: number) => {
  const path = join(directory, name);
  await writeFile(path, `# the keys\n${newKeyLine('a')}\r\n\n${newKeyLine('b')}\n`, { mode: 0o600 });
  await chmod(path, mode);
  return path;
};

test('a key file that only its owner and its group may read is accepted', async () => {
  const { first, keys } = await readKeyRing(await keyFile('good', 0o600));
  expect(first.id).toBe('a');
  expect(keys.map(({ id }) => id)).toEqual(['a', 'b']);
  expect((await readKeyRing(await keyFile('read-only', 0o400))).keys).toHaveLength(2);
  expect((await readKeyRing(await keyFile('of-group', 0o440))).keys).toHaveLength(2);
});

test.each([0o644, 0o604, 0o620, 0o602, 0o666])('a key file of mode %o is refused', async (mode) => {
  const reading = readKeyRing(await keyFile(`mode-${mode}`, mode));
  await expect(reading).rejects.toMatchObject({
    code: 'file_not_trusted',
    message: expect.stringContaining('chmod 600'),
  });
});

test('a key file that begins with a byte order mark is read, and one in UTF-16 is refused', async () => {
  const path = await keyFile('marked', 0o600);
  await writeFile(path, `\uFEFF${newKeyLine('a')}\r\n`);
  expect((await readKeyRing(path)).first.id).toBe('a');
  await writeFile(path, Buffer.from(`\uFEFF${newKeyLine('a')}\r\n`, 'utf16le'));
  await expect(readKeyRing(path)).rejects.toMatchObject({
    code: 'bad_configuration',
    message: expect.stringMatching(/marked, the file of encryption keys, is UTF-16\. Save it as UTF-8/),
  });
});

test('a missing key file, a folder and a FIFO are refused at once', async () => {
  const fifo = join(directory, 'fifo');
  execFileSync('mkfifo', ['-m', '600', fifo]);
  for (const path of [join(directory, 'none'), directory, fifo]) {
    await expect(readKeyRing(path)).rejects.toMatchObject({ code: 'bad_configuration' });
  }
});
