import { createHash } from 'node:crypto';
import { openBucket } from '../s3/bucket.js';
import type { ResultStore } from './result-store.js';

/** How many objects are copied at once. Each is in memory. */
const lanes = 4;

/**
 * Copies all objects into a bucket, as they are: encrypted ones stay encrypted. Safe to repeat: copies what is new or has
 * changed, and replaces nothing that was written to the bucket itself.
 * @param signal ends the copy between two objects
 */
export async function copyResults(
  from: ResultStore,
  address: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<{ readonly copied: number; readonly there: number }> {
  const bucket = openBucket(address);
  const objects = await from.list('');
  let copied = 0;
  const left = objects.values();
  async function copySome(): Promise<void> {
    for (const { key, ref } of left) {
      signal?.throwIfAborted();
      const content = await from.get(ref);
      const tag = createHash('sha256').update(content).digest('hex');
      if (await bucket.put(key, content, { tag, copy: true })) copied += 1;
    }
  }
  await Promise.all(Array.from({ length: lanes }, copySome));
  return { copied, there: objects.length - copied };
}
