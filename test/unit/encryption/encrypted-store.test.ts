import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encryptResults, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { createResultStore, type ResultStore } from '../../../src/result-store/index.js';

const old = newKeyLine('old');
const ring = parseKeyRing(old);
const rotated = parseKeyRing(`${newKeyLine('new')}\n${old}`);
let directory: string;
let clear: ResultStore;
let store: ResultStore;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-store-'));
  clear = createResultStore(directory);
  store = encryptResults(clear, ring);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function* pieces(content: readonly Uint8Array[]) {
  yield* content;
}

/** Reads with pieces of one to many bytes, whatever the store yields. */
async function readInPieces(from: ResultStore, ref: string, options = {}): Promise<Buffer> {
  const cut: ResultStore = {
    ...clear,
    async *getStream(stored) {
      const all = await clear.get(stored);
      for (let at = 0, size = 1; at < all.length; at += size, size = (size * 3) % 50 || 1)
        yield all.subarray(at, at + size);
    },
  };
  const read: Uint8Array[] = [];
  const reader = from === store ? encryptResults(cut, ring, options) : from;
  for await (const piece of reader.getStream?.(ref) ?? []) read.push(piece);
  return Buffer.concat(read);
}

test('a stream of a changed or cut object ends with an error', async () => {
  const { ref } = await store.put('streamed', Buffer.from('content'.repeat(50)));
  const path = join(directory, 'streamed');
  const whole = await readFile(path);
  const changed = Buffer.from(whole);
  changed[whole.length - 30] = (changed[whole.length - 30] ?? 0) ^ 1;
  for (const bad of [changed, whole.subarray(0, -1), whole.subarray(0, 25)]) {
    await writeFile(path, bad);
    await expect(readInPieces(store, ref)).rejects.toMatchObject({ code: 'not_decryptable' });
  }
  await writeFile(path, 'clear');
  await expect(readInPieces(store, ref, { requireEncrypted: true })).rejects.toMatchObject({ code: 'not_encrypted' });
  await writeFile(path, whole);
  const other = encryptResults(clear, parseKeyRing(newKeyLine('other')));
  await expect(readInPieces(other, ref)).rejects.toMatchObject({ code: 'encryption_key_unknown' });
});

test('a write that was given up replaces nothing', async () => {
  const { ref } = await store.put('given-up', Buffer.from('newer'));
  await expect(store.put('given-up', Buffer.from('older'), { signal: AbortSignal.abort() })).rejects.toThrow();
  expect((await store.get(ref)).toString()).toBe('newer');
});

test('objects are read as they were written, whole or in parts, with sizes and digests of the content', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 })), async (parts) => {
      const content = Buffer.concat(parts);
      const whole = await store.put('a/whole', content);
      const streamed = await store.putStream('a/streamed', pieces(parts));
      const sha256 = createHash('sha256').update(content).digest('hex');
      expect(whole).toMatchObject({ size: content.length, sha256 });
      expect(streamed).toMatchObject({ size: content.length, sha256 });
      expect(await store.get(whole.ref)).toEqual(content);
      expect(await store.get(streamed.ref)).toEqual(content);
      for (const { ref } of [whole, streamed]) expect(await readInPieces(store, ref)).toEqual(content);
      expect(await readInPieces(store, (await clear.put('a/clear', content)).ref)).toEqual(content);
    }),
    { numRuns: 30 },
  );
});

test('the store contains neither the content nor its digest, even in a name', async () => {
  const canary = 'a canary that nobody may find';
  const digest = createHash('sha256').update(canary).digest('hex');
  const { ref } = await store.put(`inputs/${digest}`, Buffer.from(canary));
  expect(ref).toMatch(/inputs\/[0-9a-f]{64}$/);
  expect((await store.put(`inputs/${digest}`, Buffer.from(canary))).ref).toBe(ref);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    expect(entry.name).not.toContain(digest);
    if (!entry.isFile()) continue;
    const bytes = (await readFile(join(entry.parentPath, entry.name))).toString('latin1');
    expect(bytes).not.toContain(canary);
    expect(bytes).not.toContain(digest);
  }
});

test('every key of the ring reads, and a missing key is named', async () => {
  const { ref } = await store.put('b', Buffer.from('earlier'));
  const now = encryptResults(clear, rotated);
  expect((await now.get(ref)).toString()).toBe('earlier');
  const later = await now.put('c', Buffer.from('later'));
  await expect(store.get(later.ref)).rejects.toMatchObject({ code: 'encryption_key_unknown' });
});

test('an unencrypted object stays readable unless encryption is required', async () => {
  const { ref } = await clear.put('d', Buffer.from('clear'));
  expect((await store.get(ref)).toString()).toBe('clear');
  const strict = encryptResults(clear, ring, { requireEncrypted: true });
  await expect(strict.get(ref)).rejects.toMatchObject({ code: 'not_encrypted' });
});

test('a changed or truncated object is refused', async () => {
  const { ref } = await store.put('e', Buffer.from('content'));
  const path = join(directory, 'e');
  const bytes = await readFile(path);
  for (let length = 8; length < bytes.length; length += 1) {
    await writeFile(path, bytes.subarray(0, length));
    await expect(store.get(ref), `${length} bytes`).rejects.toThrow(/cut|truncated|not in the key ring/);
  }
  for (let at = 13; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    await writeFile(path, changed);
    await expect(store.get(ref), `byte ${at}`).rejects.toMatchObject({ code: 'not_decryptable' });
  }
});
