import type { KeyRing } from '../encryption/key-ring.js';
import { openBucket } from '../s3/bucket.js';
import { type Copied, copyEach } from '../s3/copy-each.js';
import { sealSecret } from './s3-store.js';
import { isSecretName, refOf, type SecretStore } from './secret-store.js';

/**
 * Copies all secrets into a bucket, encrypted with the first key of the ring. Safe to repeat: replaces nothing that was
 * written to the bucket itself.
 * @param options.signal ends the copy
 * @returns also the names of secrets that only the bucket has: new ones, and those that were deleted after an earlier copy
 */
export async function copySecrets(
  from: SecretStore,
  address: string,
  { ring, signal }: { readonly ring: KeyRing; readonly signal?: AbortSignal },
): Promise<Copied & { readonly onlyThere: readonly string[] }> {
  const bucket = openBucket(address);
  const names = await from.list();
  const copy = async (name: string) => {
    const { content, tag } = sealSecret(ring, name, await from.get(refOf(name)));
    return bucket.put(name, content, { tag, copy: true, signal });
  };
  const copied = await copyEach(names, copy, { nameOf: (name) => name, signal });
  const onlyThere = (await bucket.list('')).filter((name) => isSecretName(name) && !names.includes(name));
  return { ...copied, onlyThere };
}
