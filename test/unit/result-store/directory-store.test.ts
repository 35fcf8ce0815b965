import { mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encryptResults, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { createResultStore } from '../../../src/result-store/index.js';
import { putAfter } from '../../../src/result-store/put-after.js';
import { pieces, storeContract } from './store-contract.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-results-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('a store in a directory', () => storeContract(() => createResultStore(directory)));

it('leaves no folder of objects that were removed', async () => {
  const results = createResultStore(directory);
  for (const key of ['job/a/x', 'job/a/y', 'other']) await results.put(key, Buffer.from('one'));
  for await (const object of results.listEach?.('job/') ?? []) await results.remove?.(object);
  expect(await readdir(directory)).toEqual(['other']);
});

it('files and folders are closed to other users', async () => {
  const results = createResultStore(directory);
  await results.putStream('job/a', pieces('one'));
  expect((await stat(join(directory, 'job/a'))).mode & 0o777).toBe(0o600);
  expect((await stat(join(directory, 'job'))).mode & 0o777).toBe(0o700);
});

it('a stream that breaks leaves no temporary file', async () => {
  const broken = createResultStore(directory).putStream('a', pieces('half', new Error('the connection ended')));
  await expect(broken).rejects.toThrow('the connection ended');
  expect(await readdir(directory)).toEqual([]);
});

describe('an object that waits for its turn', () => {
  it('is written before, to a file beside', async () => {
    const results = createResultStore(directory);
    let comes = () => {};
    const turn = new Promise<void>((resolve) => {
      comes = resolve;
    });
    const put = putAfter(results, turn, 'job/a', Buffer.from('after'));
    await expect.poll(() => readdir(join(directory, 'job')).catch(() => [])).toHaveLength(1);
    expect(await results.list('job')).toEqual([]);
    comes();
    await put;
    expect(await readdir(join(directory, 'job'))).toEqual(['a']);
  });

  it('follows no link that has come in the place of its folder meanwhile', async () => {
    const results = createResultStore(join(directory, 'store'));
    await results.put('job/a', Buffer.from('before'));
    let comes = () => {};
    const turn = new Promise<void>((resolve) => {
      comes = resolve;
    });
    const put = putAfter(results, turn, 'job/a', Buffer.from('after'));
    await expect.poll(() => readdir(join(directory, 'store', 'job'))).toHaveLength(2);
    await rename(join(directory, 'store', 'job'), join(directory, 'elsewhere'));
    await symlink(join(directory, 'elsewhere'), join(directory, 'store', 'job'));
    comes();
    await expect(put).rejects.toMatchObject({ code: 'bad_result_key' });
    expect(await readFile(join(directory, 'elsewhere', 'a'), 'utf8')).toBe('before');
  });
});

it('a partial file is not listed', async () => {
  const results = createResultStore(directory);
  await results.put('a/b', Buffer.from('one'));
  await writeFile(join(directory, 'a/.half.tmp'), 'half');
  expect(await results.list('a')).toEqual([{ key: 'a/b', ref: 'file-store:a/b' }]);
});

describe('folders', () => {
  it('are created for many objects at once, and again after the whole directory is lost', async () => {
    const results = createResultStore(join(directory, 'a', 'b'));
    const keys = Array.from({ length: 20 }, (_, index) => `job/run/sent/${index % 3}/step/${index}.json`);
    for (const all of [['right-in-it'], keys, ['deep/in/it']]) {
      await rm(join(directory, 'a'), { recursive: true, force: true });
      await Promise.all(all.map((key) => results.put(key, Buffer.from(key))));
      for (const key of all) expect((await results.get(`file-store:${key}`)).toString()).toBe(key);
    }
    expect((await stat(join(directory, 'a', 'b', 'deep', 'in'))).mode & 0o777).toBe(0o700);
  });

  it('that are a file hold no object', async () => {
    const results = createResultStore(directory);
    await results.put('a/b', Buffer.from('kept'));
    for (const key of ['a/b/c', 'a/b/c/d']) {
      await expect(results.put(key, Buffer.from('x'))).rejects.toThrow(`${join(directory, 'a', 'b')} is not a folder`);
    }
    expect((await results.get('file-store:a/b')).toString()).toBe('kept');
  });
});

describe('a check at the start', () => {
  it('leaves nothing behind in a store that can be written to', async () => {
    const results = createResultStore(join(directory, 'a', 'b'));
    await results.checkWritable?.();
    expect(await readdir(join(directory, 'a', 'b'))).toEqual([]);
  });

  it('names a store that cannot be written to, encrypted or not', async () => {
    await writeFile(join(directory, 'file'), '');
    const path = join(directory, 'file', 'results');
    const results = createResultStore(path);
    for (const store of [results, encryptResults(results, parseKeyRing(newKeyLine('k')))]) {
      await expect(store.checkWritable?.()).rejects.toMatchObject({
        code: 'result_store_unwritable',
        message: expect.stringMatching(new RegExp(`^The result store ${path} .*EEXIST`)),
      });
    }
  });
});
