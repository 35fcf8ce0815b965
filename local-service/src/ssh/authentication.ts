/** Authenticates clients. Only the holder of a registered key may log in, and must prove it with a signature. */
import { createHash, timingSafeEqual } from 'node:crypto';
import ssh2, { type AuthContext, type Connection, type ParsedKey, type PublicKeyAuthContext } from 'ssh2';
import type { PublicKey } from './public-key.js';

interface AuthenticationOptions {
  /** Called at each try, so that a key that was removed in between is refused. */
  readonly keys: () => readonly PublicKey[];
  /**
   * The number of refusals after which the connection is closed. The first `none` is not counted: clients send it to
   * learn which methods exist.
   */
  readonly maxTries: number;
  readonly onAccepted: (key: PublicKey) => void;
  readonly onTooManyTries: () => void;
}

/**
 * Answers the tries of one connection. Every method except public keys is refused, and so are RSA signatures with
 * SHA-1. The user name is ignored, because a sandbox has only one user.
 */
export function authenticate(client: Connection, options: AuthenticationOptions): void {
  let [refusals, hasAsked] = [0, false];
  client.on('authentication', (context: AuthContext) => {
    const key = context.method === 'publickey' ? registeredKey(context, options.keys()) : undefined;
    if (context.method === 'publickey' && key && context.signature === undefined) {
      // The client only asks whether the key would be accepted.
      context.accept();
      return;
    }
    if (context.method === 'publickey' && key && isSigned(context, key)) {
      options.onAccepted(key);
      context.accept();
      return;
    }
    if (context.method === 'none' && !hasAsked) hasAsked = true;
    else refusals += 1;
    context.reject(['publickey']);
    if (refusals >= options.maxTries) options.onTooManyTries();
  });
}

/** Compares every key in constant time, so that the time reveals nothing about the keys. */
function registeredKey({ key }: PublicKeyAuthContext, keys: readonly PublicKey[]): PublicKey | undefined {
  const offered = digest(key.data);
  let found: PublicKey | undefined;
  for (const candidate of keys) {
    if (timingSafeEqual(offered, digest(candidate.blob)) && key.algo === candidate.type) found = candidate;
  }
  return found;
}

function isSigned({ blob, signature, hashAlgo }: PublicKeyAuthContext, key: PublicKey): boolean {
  if (blob === undefined || signature === undefined) return false;
  if (key.type === 'ssh-rsa' && hashAlgo !== 'sha256' && hashAlgo !== 'sha512') return false;
  const parsed = ssh2.utils.parseKey(key.text) as ParsedKey | Error;
  if (parsed instanceof Error) return false;
  // If the signature cannot be verified, `verify` returns an error object, which is truthy. So compare with `true`.
  const verified: unknown = parsed.verify(blob, signature, hashAlgo);
  return verified === true;
}

function digest(blob: Buffer): Buffer {
  return createHash('sha256').update(blob).digest();
}
