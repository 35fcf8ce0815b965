import { randomUUID } from 'node:crypto';
import { seal, unseal } from '../encryption/cipher.js';
import type { KeyRing } from '../encryption/key-ring.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { openBucket } from '../s3/bucket.js';
import { checkedName, isSecretName, keepLine, nameOf, notKept, refOf, type SecretStore } from './secret-store.js';

/** A secret as the bucket has it. */
interface SealedSecret {
  /** Id of the key that encrypted it. */
  readonly key: string;
  /** In base64. */
  readonly sealed: string;
}

/**
 * A secret store in a bucket, for workers that share nothing else. A secret is encrypted with the first key of the ring
 * before it leaves the process, and bound to its name.
 */
export function createBucketSecrets(address: string, ring: KeyRing): SecretStore {
  const bucket = openBucket(address);

  return {
    async put(name, value) {
      const key = checkedName(name);
      keepLine(value);
      const sealed = seal(ring.first, `secret 1 ${name}`, Buffer.from(value)).toString('base64');
      const content = JSON.stringify({ key: ring.first.id, sealed } satisfies SealedSecret);
      await bucket.put(key, Buffer.from(content), { tag: randomUUID() });
      return refOf(name);
    },

    async get(ref) {
      const name = nameOf(ref);
      const content = await bucket.get(name);
      if (content === null) throw notKept(address, name);
      const { key, sealed } = sealedIn(content, name);
      const value = unseal(ring, key, `secret 1 ${name}`, Buffer.from(sealed, 'base64')).toString('utf8');
      keepLine(value);
      return value;
    },

    delete: async (ref) => bucket.remove(nameOf(ref)),

    list: async () => (await bucket.list('')).filter(isSecretName).sort(),

    checkWritable: () => bucket.check(),
  };
}

function sealedIn(content: Buffer, name: string): SealedSecret {
  try {
    const { key, sealed } = JSON.parse(content.toString('utf8'));
    if (typeof key === 'string' && typeof sealed === 'string') return { key, sealed };
  } catch {
    // Something else was put there.
  }
  throw new SandflowError('not_encrypted', `The secret "${name}" in the bucket was not written by sandflow.`);
}
