import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNotifySecrets } from '../../../src/notify/index.js';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-notify-'));
  file = join(directory, 'home', 'notify-secrets');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const secret = (letter: string) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;
const write = async (text: string, mode = 0o600) => {
  const path = join(directory, 'secrets');
  await writeFile(path, text);
  await chmod(path, mode);
  return createNotifySecrets(path);
};

describe('the secrets of notifications', () => {
  it('are created at the first use, once for concurrent processes, with mode 600', async () => {
    const begin = () => createNotifySecrets(file, { make: true })();
    const read = await Promise.all(Array.from({ length: 10 }, begin));
    expect(new Set(read.flat()).size).toBe(1);
    expect(read[0]?.[0]).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('are not created in a configured file', async () => {
    await expect(createNotifySecrets(file)()).rejects.toThrow('does not exist');
  });

  it('are all read at each use, so that they can be rotated under a running worker', async () => {
    const read = await write(`${secret('a')}\n`);
    expect(await read()).toEqual([secret('a')]);
    await write(`${secret('b')}\n${secret('a')}\n`);
    expect(await read()).toEqual([secret('b'), secret('a')]);
  });

  it.each([0o660, 0o606])('are refused if others may write them: mode %o', async (mode) => {
    const read = await write(secret('a'), mode);
    await expect(read()).rejects.toMatchObject({ code: 'file_not_trusted' });
  });

  it.each(['', 'short', 'whsec_c2hvcnQ=', `${secret('a')} plain-words`, Array(9).fill(secret('a')).join('\n')])(
    'are refused and never shown: %j',
    async (text) => {
      const read = await write(text);
      const error = await read().catch((thrown: Error) => thrown);
      expect(error).toMatchObject({ code: 'bad_notify_secrets' });
      for (const word of text.split(/\s+/).filter(Boolean)) expect(String(error)).not.toContain(word);
    },
  );
});
