/**
 * Encrypts with AES-256-GCM and a random nonce of 96 bits for each message, as NIST SP 800-38D specifies. A message
 * consists of the nonce, the ciphertext and a tag of 128 bits. The tag also authenticates the purpose of the message
 * and the id of the key.
 */
import { createCipheriv, createDecipheriv, type DecipherGCM, randomBytes } from 'node:crypto';
import { SandflowError } from '../errors/sandflow-error.js';
import type { KeyRing, RingKey } from './key-ring.js';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** The purpose of a message. A message for one purpose cannot be decrypted as a message for another. */
export type Purpose = 'payload 1' | 'object 1' | `secret 1 ${string}`;

/** Encrypts piece by piece. The message is `begin`, then the results of `update`, then the result of `end`. */
export function startSealing(key: RingKey, purpose: Purpose) {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key.secret, nonce, { authTagLength: tagBytes });
  cipher.setAAD(associated(purpose, key.id));
  return {
    begin: nonce,
    update: (piece: Uint8Array) => cipher.update(piece),
    end: () => Buffer.concat([cipher.final(), cipher.getAuthTag()]),
  };
}

export function seal(key: RingKey, purpose: Purpose, plain: Uint8Array): Buffer {
  const sealing = startSealing(key, purpose);
  return Buffer.concat([sealing.begin, sealing.update(plain), sealing.end()]);
}

/**
 * Decrypts piece by piece. What `update` returns is genuine only once `end` has not failed.
 * @throws SandflowError `encryption_key_unknown`; its methods `not_decryptable`
 */
export function startUnsealing(ring: KeyRing, keyId: string, purpose: Purpose) {
  const key = ring.find(keyId);
  if (!key) throw unknownKey(keyId);
  let rest = Buffer.alloc(0);
  let decipher: DecipherGCM | undefined;
  return {
    update(piece: Uint8Array): Buffer {
      rest = Buffer.concat([rest, piece]);
      if (rest.byteLength < tagBytes + (decipher === undefined ? nonceBytes : 0)) return Buffer.alloc(0);
      const begin = decipher === undefined ? nonceBytes : 0;
      decipher ??= createDecipheriv(algorithm, key.secret, rest.subarray(0, begin), { authTagLength: tagBytes });
      if (begin > 0) decipher.setAAD(associated(purpose, keyId));
      // The tag is at the end, and any piece may be the last one.
      const end = rest.byteLength - tagBytes;
      const plain = decipher.update(rest.subarray(begin, end));
      rest = rest.subarray(end);
      return plain;
    },
    end(): Buffer {
      if (decipher === undefined) throw notDecryptable(keyId);
      decipher.setAuthTag(rest);
      try {
        return decipher.final();
      } catch (cause) {
        throw notDecryptable(keyId, cause);
      }
    },
  };
}

/**
 * @returns the plain bytes, after all of them were found to be genuine
 * @throws SandflowError `encryption_key_unknown`, `not_decryptable`
 */
export function unseal(ring: KeyRing, keyId: string, purpose: Purpose, sealed: Uint8Array): Buffer {
  const unsealing = startUnsealing(ring, keyId, purpose);
  return Buffer.concat([unsealing.update(sealed), unsealing.end()]);
}

function associated(purpose: Purpose, keyId: string): Buffer {
  return Buffer.from(`sandflow ${purpose} ${keyId}`);
}

function unknownKey(keyId: string): SandflowError {
  const message = `This data was encrypted with the key "${keyId.slice(0, 64)}", which is not in the key ring. Add it to the file that SANDFLOW_ENCRYPTION_KEYS_FILE names.`;
  return new SandflowError('encryption_key_unknown', message);
}

function notDecryptable(keyId: string, cause?: unknown): SandflowError {
  const message = `Data that was encrypted with the key "${keyId}" cannot be decrypted: it was changed or cut, or this process has another key with the same id.`;
  return new SandflowError('not_decryptable', message, { cause });
}
