import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encryptResults, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { createResultStore, type ResultStore } from '../../../src/result-store/index.js';
import { putAfter } from '../../../src/result-store/put-after.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-results-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

describe('streamed content', () => {
  it('is stored as a whole, with its length and digest', async () => {
    const results = createResultStore(directory);
    const sha256 = createHash('sha256').update('one two').digest('hex');
    const stored = await results.putStream('job/a', pieces('one', ' ', 'two'));
    expect(stored).toEqual({ ref: 'file-store:job/a', size: 7, sha256 });
    expect(stored).toEqual(await results.put('job/a', Buffer.from('one two')));
    expect((await results.get(stored.ref)).toString()).toBe('one two');
    expect((await stat(join(directory, 'job/a'))).mode & 0o777).toBe(0o600);
  });

  it('that breaks leaves the existing object, and nothing else', async () => {
    const results = createResultStore(directory);
    const { ref } = await results.put('a', Buffer.from('before'));
    const broken = new Error('the connection ended');
    await expect(results.putStream('a', pieces('half', broken))).rejects.toBe(broken);
    expect((await results.get(ref)).toString()).toBe('before');
    expect(await readdir(directory)).toEqual(['a']);
  });

  it('stays inside the directory', async () => {
    const put = createResultStore(directory).putStream('../a', pieces('x'));
    await expect(put).rejects.toMatchObject({ code: 'bad_result_key' });
  });
});

describe('an object that waits for its turn', () => {
  const ring = parseKeyRing(newKeyLine('k'));
  const stores: Readonly<Record<string, () => ResultStore>> = {
    'the directory': () => createResultStore(directory),
    'an encrypted directory': () => encryptResults(createResultStore(directory), ring),
    'a store that wraps it': () => ({ ...createResultStore(directory) }),
  };

  it.each(Object.entries(stores))('replaces the existing one only then, in %s', async (name, storeOf) => {
    const results = storeOf();
    const { ref } = await results.put('job/a', Buffer.from('before'));
    let comes = () => {};
    const turn = new Promise<void>((resolve) => {
      comes = resolve;
    });
    const put = putAfter(results, turn, 'job/a', Buffer.from('after'));
    if (name === 'the directory') await expect.poll(() => readdir(join(directory, 'job'))).toHaveLength(2);
    expect((await results.get(ref)).toString()).toBe('before');
    comes();
    expect(await put).toMatchObject({ ref, size: 5 });
    expect((await results.get(ref)).toString()).toBe('after');
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

  it.each(Object.entries(stores))('stores nothing if its turn never comes, in %s', async (_, storeOf) => {
    const results = storeOf();
    const late = new Error('the attempt has timed out');
    await expect(putAfter(results, Promise.reject(late), 'job/a', Buffer.from('after'))).rejects.toBe(late);
    expect(await results.list('job')).toEqual([]);
  });
});

describe('a folder', () => {
  it('lists what is stored below it, with readable references and no partial file', async () => {
    const results = createResultStore(directory);
    await results.put('batch/items/1/1.json', Buffer.from('one'));
    await results.put('batch/items/10/1.json', Buffer.from('ten'));
    await writeFile(join(directory, 'batch/items/1/.half.tmp'), 'half');
    const listed = await results.list('batch/items/1');
    expect(listed).toEqual([{ key: 'batch/items/1/1.json', ref: 'file-store:batch/items/1/1.json' }]);
    expect((await results.list('batch')).map(({ key }) => key).sort()).toEqual([
      'batch/items/1/1.json',
      'batch/items/10/1.json',
    ]);
    expect((await results.get(listed[0]?.ref ?? '')).toString()).toBe('one');
  });

  it('that does not exist is empty, and one outside the directory is refused', async () => {
    const results = createResultStore(directory);
    expect(await results.list('nothing')).toEqual([]);
    await expect(results.list('../..')).rejects.toMatchObject({ code: 'bad_result_key' });
  });
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
