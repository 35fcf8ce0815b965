/** What every result store promises, wherever it keeps its objects. */
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readStored } from '../../../activities/store/texts.js';
import { encryptResults, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import type { DatedObject, ResultStore } from '../../../src/result-store/index.js';
import { putAfter } from '../../../src/result-store/put-after.js';

export async function* pieces(...texts: readonly (string | Buffer | Error)[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

const keysOf = async (store: ResultStore, folder = '') => (await store.list(folder)).map(({ key }) => key).sort();

/** @param openEmpty opens an empty store, which the caller removes after each test */
export function storeContract(openEmpty: () => ResultStore): void {
  describe('content', () => {
    it('is read as it was stored, and the last write wins', async () => {
      const results = openEmpty();
      for (const text of ['one', '', 'three']) {
        const { ref, size, sha256 } = await results.put('job/a b(1)ü.txt', Buffer.from(text));
        expect(ref).toBe('file-store:job/a b(1)ü.txt');
        expect({ size, sha256 }).toEqual({
          size: text.length,
          sha256: createHash('sha256').update(text).digest('hex'),
        });
        expect((await results.get(ref)).toString()).toBe(text);
      }
      expect(await keysOf(results)).toEqual(['job/a b(1)ü.txt']);
    });

    it('of several writers at once is that of one of them', async () => {
      const results = openEmpty();
      const texts = Array.from({ length: 6 }, (_, index) => `${index}`.repeat(1_000));
      // Their callers live, so that each replaces what another one stored after it began.
      const { signal } = new AbortController();
      await Promise.all(texts.map((text) => results.put('a', Buffer.from(text), { signal })));
      expect(texts).toContain((await results.get('file-store:a')).toString());
    });

    it('that is missing is told, and one that is too large is not read', async () => {
      const results = openEmpty();
      expect(await results.find('a')).toBeNull();
      await expect(results.get('file-store:a')).rejects.toMatchObject({ code: 'result_not_found' });
      const { ref } = await results.put('a', Buffer.from('four'));
      expect(await results.find('a')).toBe(ref);
      expect(await results.find('b')).toBeNull();
      await expect(results.get(ref, { maxBytes: 3 })).rejects.toMatchObject({ code: 'result_too_large' });
      expect((await results.get(ref, { maxBytes: 4 })).toString()).toBe('four');
    });

    it('whose write was given up replaces nothing', async () => {
      const results = openEmpty();
      const { ref } = await results.put('a', Buffer.from('newer'));
      const given = results.put('a', Buffer.from('late'), { signal: AbortSignal.abort(new Error('given up')) });
      await expect(given).rejects.toThrow('given up');
      expect((await results.get(ref)).toString()).toBe('newer');
    });

    it('is encrypted, whole or as a stream, and read back', async () => {
      const plain = openEmpty();
      const results = encryptResults(plain, parseKeyRing(newKeyLine('k')));
      const stored = [
        await results.put('a', Buffer.from('a text')),
        await results.putStream('b', pieces('a', ' text')),
      ];
      for (const { ref } of stored) {
        expect((await results.get(ref)).toString()).toBe('a text');
        expect((await plain.get(ref)).toString('latin1')).not.toContain('text');
      }
    });
  });

  describe('streamed content', () => {
    it('is stored as a whole, with its length and digest', async () => {
      const results = openEmpty();
      const sha256 = createHash('sha256').update('one two').digest('hex');
      const stored = await results.putStream('job/a', pieces('one', ' ', 'two'));
      expect(stored).toEqual({ ref: 'file-store:job/a', size: 7, sha256 });
      expect(stored).toEqual(await results.put('job/a', Buffer.from('one two')));
      expect((await results.get(stored.ref)).toString()).toBe('one two');
      expect((await results.putStream('job/empty', pieces())).size).toBe(0);
      expect((await results.get('file-store:job/empty')).byteLength).toBe(0);
    });

    it('of more than a part replaces what is there, as does one that is put', async () => {
      const results = openEmpty();
      const part = randomBytes(16 * 1024 * 1024);
      const content = Buffer.concat([part, Buffer.from('the rest')]);
      const sha256 = createHash('sha256').update(content).digest('hex');
      await results.put('a', Buffer.from('before'));
      const cut = [content.subarray(0, 5), content.subarray(5, 40_000), content.subarray(40_000)];
      expect(await results.putStream('a', pieces(...cut))).toEqual({
        ref: 'file-store:a',
        size: content.length,
        sha256,
      });
      expect(content.equals(await results.get('file-store:a'))).toBe(true);
      const changed = Buffer.concat([Buffer.from('changed'), content]);
      await results.put('a', changed);
      expect(changed.equals(await results.get('file-store:a'))).toBe(true);
    });

    it.each([0, 17 * 1024 * 1024])(
      'that breaks after %i bytes leaves the existing object, and nothing else',
      async (bytes) => {
        const results = openEmpty();
        const { ref } = await results.put('a', Buffer.from('before'));
        const broken = Object.assign(new Error('the connection ended'), { code: 'ECONNRESET' });
        await expect(results.putStream('a', pieces('half', Buffer.alloc(bytes), broken))).rejects.toBe(broken);
        expect((await results.get(ref)).toString()).toBe('before');
        expect(await keysOf(results)).toEqual(['a']);
      },
    );
  });

  describe('an object that waits for its turn', () => {
    const ring = parseKeyRing(newKeyLine('k'));
    const wraps: Readonly<Record<string, (store: ResultStore) => ResultStore>> = {
      'the store itself': (store) => store,
      'an encrypted one': (store) => encryptResults(store, ring),
      'a store that wraps it': (store) => ({ ...store }),
    };

    it.each(Object.entries(wraps))('replaces the existing one only then, in %s', async (_, wrap) => {
      const results = wrap(openEmpty());
      const { ref } = await results.put('job/a', Buffer.from('before'));
      let comes = () => {};
      const turn = new Promise<void>((resolve) => {
        comes = resolve;
      });
      const put = putAfter(results, turn, 'job/a', Buffer.from('after'));
      expect((await results.get(ref)).toString()).toBe('before');
      comes();
      expect(await put).toMatchObject({ ref, size: 5 });
      expect((await results.get(ref)).toString()).toBe('after');
      expect(await keysOf(results, 'job')).toEqual(['job/a']);
    });

    it.each(Object.entries(wraps))('stores nothing if its turn never comes, in %s', async (_, wrap) => {
      const results = wrap(openEmpty());
      const late = new Error('the attempt has timed out');
      await expect(putAfter(results, Promise.reject(late), 'job/a', Buffer.from('after'))).rejects.toBe(late);
      expect(await results.list('job')).toEqual([]);
    });
  });

  describe('a folder', () => {
    it('lists what is stored below it, with readable references', async () => {
      const results = openEmpty();
      const keys = [1, 10, 2, 3, 4].map((item) => `batch/items/${item}/1.json`);
      for (const key of keys) await results.put(key, Buffer.from(key));
      const listed = await results.list('batch/items/1');
      expect(listed).toEqual([{ key: keys[0], ref: `file-store:${keys[0]}` }]);
      expect((await results.get(listed[0]?.ref ?? '')).toString()).toBe(keys[0]);
      expect(await keysOf(results, 'batch')).toEqual(keys.toSorted());
      expect(await keysOf(results)).toEqual(keys.toSorted());
    });

    it('that does not exist is empty, and one outside the store is refused', async () => {
      const results = openEmpty();
      expect(await results.list('nothing')).toEqual([]);
      await expect(results.list('../..')).rejects.toMatchObject({ code: 'bad_result_key' });
    });
  });

  describe('what is dated', () => {
    const dated = async (store: ResultStore, start: string) => {
      const found: DatedObject[] = [];
      for await (const object of store.listEach?.(start) ?? []) found.push(object);
      return found;
    };

    it('is listed by the beginning of its key, those of a folder one after another, with size and time', async () => {
      const results = openEmpty();
      const sinceMs = Math.floor(Date.now() / 1_000) * 1_000 - 1;
      for (const key of ['job-1/a/x', 'job-2/b', 'job-1/b', 'other/a', 'job-1-2/c', 'jobs'])
        await results.put(key, Buffer.from('four'));
      const all = await dated(results, 'job-');
      expect(all.map(({ key }) => key).sort()).toEqual(['job-1-2/c', 'job-1/a/x', 'job-1/b', 'job-2/b']);
      const folders = all.map(({ key }) => key.split('/')[0]);
      expect(folders.filter((folder, at) => folder !== folders[at - 1])).toHaveLength(3);
      for (const { size, writtenMs, ref, key } of all) {
        expect({ size, ref }).toEqual({ size: 4, ref: `file-store:${key}` });
        expect(writtenMs).toBeGreaterThan(sinceMs);
      }
      expect((await dated(results, 'job-1/')).map(({ key }) => key).sort()).toEqual(['job-1/a/x', 'job-1/b']);
      expect(await dated(results, '')).toHaveLength(6);
      expect(await dated(results, 'nothing/')).toEqual([]);
    });

    it('is removed, and not what was written since; a removed folder can be written again', async () => {
      const results = openEmpty();
      for (const key of ['job/a/x', 'job/a/y']) await results.put(key, Buffer.from('one'));
      const [first, second] = (await dated(results, 'job/')).toSorted((a, b) => a.key.localeCompare(b.key));
      if (!first || !second) throw new Error('Nothing is listed.');
      expect(await results.remove?.({ ...first, writtenMs: first.writtenMs - 5_000 })).toBe(false);
      expect(await keysOf(results)).toEqual(['job/a/x', 'job/a/y']);
      expect(await results.remove?.(first)).toBe(true);
      expect(await results.remove?.(first)).toBe(false);
      expect(await keysOf(results)).toEqual(['job/a/y']);
      expect(await results.remove?.(second)).toBe(true);
      await results.put('job/a/x', Buffer.from('again'));
      expect(await keysOf(results)).toEqual(['job/a/x']);
    });

    it('is the same through encryption, and missing if the store below has none', async () => {
      const plain = openEmpty();
      const ring = parseKeyRing(newKeyLine('k'));
      const results = encryptResults(plain, ring);
      await results.put('job/a', Buffer.from('secret'));
      expect(await dated(results, 'job/')).toEqual(await dated(plain, 'job/'));
      for (const object of await dated(results, 'job/')) expect(await results.remove?.(object)).toBe(true);
      expect(await keysOf(plain)).toEqual([]);
      const { listEach: _, remove: __, ...without } = plain;
      expect(encryptResults(without, ring)).not.toMatchObject({ remove: expect.anything() });
    });
  });

  describe('a key outside the store', () => {
    it.each(['../a', 'a/../../b', '/etc/passwd', '..', '.'])('is refused: %j', async (key) => {
      const results = openEmpty();
      const refused = { code: 'bad_result_key' };
      await expect(results.put(key, Buffer.from('x'))).rejects.toMatchObject(refused);
      await expect(results.putStream(key, pieces('x'))).rejects.toMatchObject(refused);
      await expect(results.get(`file-store:${key}`)).rejects.toMatchObject(refused);
    });
  });

  it.each([
    '',
    'inputs/a',
    'http://127.0.0.1/inputs/a',
    'file-store:',
    'file-store:.',
    'file-store:inputs',
    'file-store:inputs/',
    'file-store:inputs/b',
    'file-store:inputs/a/b',
    'file-store:../inputs/a',
    'file-store:inputs/../../../../../../etc/passwd',
    'file-store:/etc/passwd',
    'file-store:inputs/a\u0000',
    `file-store:${'a'.repeat(300)}`,
    `file-store:${'a/'.repeat(3_000)}a`,
  ])('a reference that names no object fails at once, and is not read again: %j', async (ref) => {
    const results = openEmpty();
    await results.put('inputs/a', Buffer.from('a text'));
    await expect(readStored(results, ref)).rejects.toMatchObject({ type: 'result_not_found', nonRetryable: true });
  });

  it('a check at the start leaves nothing behind', async () => {
    const results = openEmpty();
    await results.checkWritable?.();
    expect(await keysOf(results)).toEqual([]);
  });
}
