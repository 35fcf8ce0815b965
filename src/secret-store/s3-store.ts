import { createHmac } from 'node:crypto';
import { seal, unseal } from '../encryption/cipher.js';
import { derivedKey, type KeyRing } from '../encryption/key-ring.js';
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
      const { content, tag } = sealSecret(ring, checkedName(name), value);
      await bucket.put(name, content, { tag });
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

    delete: async (ref) => void (await bucket.remove(nameOf(ref))),

    list: async () => (await bucket.list('')).filter(isSecretName).sort(),

    // As the result store.
    checkWritable: () => bucket.check({ mayBeFull: true }),
  };
}

/** The content of the object, and a tag that only shows those who have the key whether two values are equal. */
export function sealSecret(
  ring: KeyRing,
  name: string,
  value: string,
): { readonly content: Buffer; readonly tag: string } {
  keepLine(value);
  const { first } = ring;
  const sealed = seal(first, `secret 1 ${name}`, Buffer.from(value)).toString('base64');
  const content = Buffer.from(JSON.stringify({ key: first.id, sealed } satisfies SealedSecret));
  const tag = createHmac('sha256', derivedKey(first, 'secret tags 1')).update(`${name}\n${value}`).digest('hex');
  return { content, tag };
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
