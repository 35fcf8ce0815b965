/** Decides which public keys may be registered for a sandbox. */
import { createHash, createPublicKey } from 'node:crypto';
import ssh2, { type ParsedKey } from 'ssh2';
import { SshError } from './ssh-error.js';

const keyTypes = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa'];
const minRsaBits = 2048;
const maxRsaBits = 16_384;
const keyFormatHint = 'Send the content of a public key file, such as id_ed25519.pub.';

export interface PublicKey {
  readonly type: string;
  /** `SHA256:` and the hash, as `ssh-keygen -l` prints it. Not secret. */
  readonly fingerprint: string;
  /** The key as it is sent over the wire. */
  readonly blob: Buffer;
  /** Type and key as in a `.pub` file, without the comment. This is the text to store. */
  readonly text: string;
}

/**
 * Reads one line in the format of OpenSSH's `.pub` files: ed25519, ecdsa with a NIST curve, or RSA with at least 2048
 * bits. Options as in `authorized_keys`, certificates, and keys of security tokens are refused. No error quotes the
 * text.
 *
 * @throws SshError `not_a_public_key`, `private_key`, `unsupported_key`, `weak_key`
 */
export function parsePublicKey(text: string): PublicKey {
  if (/PRIVATE KEY|PuTTY-User-Key-File/i.test(text)) {
    throw new SshError(
      'private_key',
      `This is a private key, which must never be sent. Consider it compromised and create a new key pair. ${keyFormatHint}`,
    );
  }
  const [, type, base64] = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t][^\r\n]*)?$/.exec(text.trim()) ?? [];
  if (type === undefined || base64 === undefined) {
    throw new SshError('not_a_public_key', `This is not a public key in OpenSSH format. ${keyFormatHint}`);
  }
  if (!keyTypes.includes(type)) {
    if (!/^(ssh|ecdsa|sk)-/.test(type))
      throw new SshError('not_a_public_key', `This is not a public key. ${keyFormatHint}`);
    throw new SshError('unsupported_key', `Keys of this type are not supported. Use one of: ${keyTypes.join(', ')}.`);
  }
  const blob = Buffer.from(base64, 'base64');
  const key = readKey(type, base64, blob);
  if (type === 'ssh-rsa') checkRsaBits(key);
  return { type, fingerprint: fingerprintOf(blob), blob, text: `${type} ${base64}` };
}

/** `SHA256:` and the hash of a key as it is sent over the wire. */
export function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replaceAll('=', '')}`;
}

function readKey(type: string, base64: string, blob: Buffer): ReturnType<typeof createPublicKey> {
  const broken = `The ${type} key is damaged or truncated. ${keyFormatHint}`;
  const parsed = ssh2.utils.parseKey(`${type} ${base64}`) as ParsedKey | ParsedKey[] | Error;
  if (parsed instanceof Error || Array.isArray(parsed)) throw new SshError('not_a_public_key', broken);
  // If encoding the parsed key gives a different text, there is data after the key, or the same key can be written in
  // another way.
  const exact = parsed.type === type && parsed.getPublicSSH().equals(blob) && blob.toString('base64') === base64;
  if (!exact) throw new SshError('not_a_public_key', broken);
  try {
    return createPublicKey(parsed.getPublicPEM());
  } catch {
    // The cause may quote the key.
    throw new SshError('not_a_public_key', broken);
  }
}

function checkRsaBits(key: ReturnType<typeof createPublicKey>): void {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < minRsaBits) {
    throw new SshError('weak_key', `An RSA key of ${bits} bits is too short. Use at least ${minRsaBits} bits.`);
  }
  if (bits > maxRsaBits) {
    throw new SshError('unsupported_key', `An RSA key of ${bits} bits is too long. Use at most ${maxRsaBits} bits.`);
  }
}
