import type { KeyRing } from '../encryption/key-ring.js';
import { openBucket } from '../s3/bucket.js';
import { sealSecret } from './s3-store.js';
import { refOf, type SecretStore } from './secret-store.js';

/**
 * Copies all secrets into a bucket, encrypted with the first key of the ring. Safe to repeat: replaces nothing that was
 * written to the bucket itself.
 */
export async function copySecrets(
  from: SecretStore,
  address: string,
  ring: KeyRing,
): Promise<{ readonly copied: number; readonly there: number }> {
  const bucket = openBucket(address);
  const names = await from.list();
  let copied = 0;
  for (const name of names) {
    const { content, tag } = sealSecret(ring, name, await from.get(refOf(name)));
    if (await bucket.put(name, content, { tag, copy: true })) copied += 1;
  }
  return { copied, there: names.length - copied };
}
