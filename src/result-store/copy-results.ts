import { createHash } from 'node:crypto';
import { openBucket, partBytes } from '../s3/bucket.js';
import { type Copied, copyEach } from '../s3/copy-each.js';
import { openStore } from './create-store.js';
import { objectOf } from './s3-store.js';

/**
 * Copies all objects into a bucket, as they are: encrypted ones stay encrypted. Safe to repeat: copies what is new or has
 * changed, and replaces nothing that was written to the bucket itself.
 * @param place of the store, as `createResultStore` takes it
 * @param signal ends the copy
 */
export async function copyResults(
  place: string,
  address: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Copied> {
  const from = openStore(place);
  const bucket = openBucket(address);
  return copyEach(
    await from.list(''),
    async ({ key, ref }) => {
      const { tag, whole } = await readOnce(from.getStream(ref), signal);
      const content = whole ?? (() => unchanged(from.getStream(ref), tag));
      return bucket.put(objectOf(key), content, { tag, copy: true, signal });
    },
    { nameOf: ({ key }) => key, signal },
  );
}

/** The digest, and the content if it is not longer than a part. */
async function readOnce(content: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined) {
  const hash = createHash('sha256');
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    hash.update(piece);
    bytes += piece.byteLength;
    signal?.throwIfAborted();
    if (bytes <= partBytes) pieces.push(piece);
    else pieces.length = 0;
  }
  return { tag: hash.digest('hex'), whole: bytes <= partBytes ? Buffer.concat(pieces) : undefined };
}

async function* unchanged(content: AsyncIterable<Uint8Array>, sha256: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const piece of content) {
    hash.update(piece);
    yield piece;
  }
  if (hash.digest('hex') !== sha256) throw new Error('It was replaced while it was copied. Copy again.');
}
