/** Reads and creates the keys of a deployment. */
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { SandflowError } from '../errors/sandflow-error.js';
import { requireSecretFile } from '../os/secret-file.js';
import { keepSecret } from '../secrecy/known-secrets.js';

/** One key of a key ring. */
export interface RingKey {
  /** Stored in plain text with the payload. */
  readonly id: string;
  /** 256 bits. Never printed: a `KeyObject` does not show its bytes. */
  readonly secret: KeyObject;
  /** Fingerprint that distinguishes keys with the same id; 32 hex characters. */
  readonly check: string;
}

/** The keys of a deployment: the first encrypts, all decrypt. */
export interface KeyRing {
  /** Encrypts. */
  readonly first: RingKey;
  /** Every key, in the order of the file. */
  readonly keys: readonly RingKey[];
  /** The key with this id; undefined if the ring has none. */
  find(id: string): RingKey | undefined;
}

const keyBytes = 32;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const basePattern = /^[A-Za-z0-9+/_-]{43}=?$/;

/**
 * Reads a ring. Each line is `id:key`, where the key is 32 bytes in base64. Empty lines and lines that begin with `#`
 * are skipped.
 * @param source where the text comes from, for messages, which never contain a key
 * @throws SandflowError `bad_configuration`
 * @example
 * const ring = parseKeyRing(`${newKeyLine('2026-01')}\n`);
 */
export function parseKeyRing(text: string, source = 'The key ring'): KeyRing {
  const keys: RingKey[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const refuse = (why: string) => new SandflowError('bad_configuration', `${source}, line ${index + 1}: ${why}.`);
    const colon = line.indexOf(':');
    const id = line.slice(0, Math.max(colon, 0)).trim();
    if (!idPattern.test(id)) {
      throw refuse(
        'a line must be id:key, and the id has up to 64 characters of a-z, A-Z, 0-9, dot, dash and underscore',
      );
    }
    const encoded = line.slice(colon + 1).trim();
    const secret = Buffer.from(encoded, 'base64');
    for (const text of [encoded, secret.toString('hex')]) keepSecret(text);
    if (!basePattern.test(encoded) || secret.byteLength !== keyBytes) {
      throw refuse(`the key "${id}" must be 32 bytes in base64: \`sandflow encryption new-key\` creates one`);
    }
    if (keys.some((key) => key.id === id)) throw refuse(`two keys have the id "${id}"`);
    keys.push(ringKey(id, secret));
  }
  const [first] = keys;
  if (!first) throw new SandflowError('bad_configuration', `${source} holds no key.`);
  const byId = new Map(keys.map((key) => [key.id, key]));
  return { first, keys, find: (id) => byId.get(id) };
}

/**
 * Creates a line of a ring with a new random key. The line is a secret.
 * @example
 * await writeFile('/etc/sandflow/keys', `${newKeyLine('2026-01')}\n`, { mode: 0o600 });
 */
export function newKeyLine(id: string): string {
  if (!idPattern.test(id)) {
    const message = `"${id}" cannot be the id of a key: up to 64 characters of a-z, A-Z, 0-9, dot, dash and underscore.`;
    throw new SandflowError('bad_configuration', message);
  }
  return `${id}:${randomBytes(keyBytes).toString('base64')}`;
}

/** Derives 32 bytes from the key for another purpose. They reveal nothing about the key. */
export function derivedKey({ secret }: Pick<RingKey, 'secret'>, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, new Uint8Array(), `sandflow ${purpose}`, keyBytes));
}

function ringKey(id: string, bytes: Buffer): RingKey {
  const secret = createSecretKey(bytes);
  return { id, secret, check: derivedKey({ secret }, 'key check 1').subarray(0, 16).toString('hex') };
}

/**
 * Reads a ring from its file.
 * @param path a file of this user or root that nobody else may write, and that only its group may read, such as one of mode
 *   600 or 440
 * @throws SandflowError `bad_configuration`, `file_not_trusted`
 * @example
 * const dataConverter = createEncryptedDataConverter(await readKeyRing('/etc/sandflow/keys'));
 */
export async function readKeyRing(path: string): Promise<KeyRing> {
  return parseKeyRing(await requireSecretFile(path, { what: 'the file of encryption keys' }), path);
}
