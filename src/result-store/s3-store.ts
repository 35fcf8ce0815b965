import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { isDiskFull } from '../errors/disk-full.js';
import { openBucket } from '../s3/bucket.js';
import { keyOf, notStored, outside, refOf, requireAtMost } from './references.js';
import type { ResultStore } from './result-store.js';

/** Longest key, in bytes. S3 takes 1,024, the prefix included. */
const longestKey = 850;

/**
 * A result store in a bucket, for workers and users that share nothing else. An object is whole or not there, and a write
 * that was given up replaces nothing newer, also if its request arrives late.
 */
export function createBucketStore(address: string): ResultStore {
  const bucket = openBucket(address);

  return {
    async checkWritable() {
      try {
        await bucket.check();
      } catch (error) {
        // Jobs wait for space, so a worker may start without it.
        if (!isDiskFull(error)) throw error;
      }
    },

    async put(key, content, { signal } = {}) {
      const sha256 = createHash('sha256').update(content).digest('hex');
      await bucket.put(objectOf(key), content, { tag: sha256, signal });
      return { ref: refOf(key), size: content.byteLength, sha256 };
    },

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

    find: async (key) => ((await bucket.has(objectOf(key))) ? refOf(key) : null),

    async list(folder) {
      const keys = await bucket.list(folder === '' ? '' : `${objectOf(folder)}/`);
      return keys.filter((key) => !/(^|\/)\.[^/]*\.tmp$/.test(key)).map((key) => ({ key, ref: refOf(key) }));
    },
  };
}

/** The object that a directory would have at this path. */
function objectOf(key: string): string {
  const path = posix.resolve('/store', key);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: S3 refuses them
  if (!path.startsWith('/store/') || /[\u0000-\u001f\u007f]/.test(path) || Buffer.byteLength(path) > longestKey)
    throw outside();
  return path.slice('/store/'.length);
}
