import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { openBucket, type WriteOptions } from '../s3/bucket.js';
import { preparing } from './put-after.js';
import { isTemporary, keyOf, notStored, outside, refOf, requireAtMost } from './references.js';
import type { CopiedStore } from './result-store.js';

/** Longest key, in bytes. S3 takes 1,024, the prefix included. */
const longestKey = 850;

/**
 * A result store in a bucket, for workers and users that share nothing else. An object is whole or not there, and a write
 * whose request arrives late replaces nothing newer.
 */
export function createBucketStore(address: string): CopiedStore {
  const bucket = openBucket(address);

  async function put(key: string, content: Uint8Array, options: Pick<WriteOptions, 'signal' | 'after'>) {
    const sha256 = createHash('sha256').update(content).digest('hex');
    await bucket.put(objectOf(key), content, { tag: sha256, ...options });
    return { ref: refOf(key), size: content.byteLength, sha256 };
  }

  const store: CopiedStore = {
    // Jobs wait for space, so a worker may start without it.
    checkWritable: () => bucket.check({ mayBeFull: true }),

    put: (key, content, { signal } = {}) => put(key, content, { signal }),

    async putStream(key, content) {
      const hash = createHash('sha256');
      let size = 0;
      async function* counted() {
        for await (const piece of content) {
          hash.update(piece);
          size += piece.byteLength;
          yield piece;
        }
      }
      await bucket.putStream(objectOf(key), counted());
      return { ref: refOf(key), size, sha256: hash.digest('hex') };
    },

    async get(ref, { maxBytes = Number.POSITIVE_INFINITY } = {}) {
      const key = keyOf(ref);
      const content = await bucket.get(objectOf(key), (bytes) => requireAtMost(maxBytes, bytes));
      if (content === null) throw notStored(address, key);
      return content;
    },

    async *getStream(ref) {
      const key = keyOf(ref);
      const content = await bucket.getStream(objectOf(key));
      if (content === null) throw notStored(address, key);
      yield* content;
    },

    find: async (key) => ((await bucket.has(objectOf(key))) ? refOf(key) : null),

    async list(folder) {
      const keys = await bucket.list(folder === '' ? '' : `${objectOf(folder)}/`);
      return keys.filter((key) => !isTemporary(key)).map((key) => ({ key, ref: refOf(key) }));
    },

    async *listEach(start) {
      for await (const object of bucket.listEach(objectOf(`${start}x`).slice(0, -1)))
        yield { ...object, ref: refOf(object.key) };
    },

    remove: ({ key, writtenMs }) => bucket.remove(objectOf(key), writtenMs),
  };
  return preparing(store, (after, key, content, { signal } = {}) => put(key, content, { signal, after }));
}

/**
 * The object that a directory would have at this path.
 * @throws SandflowError `bad_result_key` for a path outside, and one that a bucket cannot have
 */
export function objectOf(key: string): string {
  const path = posix.resolve('/store', key);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: S3 refuses them
  if (!path.startsWith('/store/') || /[\u0000-\u001f\u007f]/.test(path) || Buffer.byteLength(path) > longestKey)
    throw outside();
  return path.slice('/store/'.length);
}
