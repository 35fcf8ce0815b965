/** Who may enter: only the holder of a registered key, proven by a signature. */
import { createHash, timingSafeEqual } from 'node:crypto';
import ssh2, { type AuthContext, type Connection, type ParsedKey, type PublicKeyAuthContext } from 'ssh2';
import type { PublicKey } from './public-key.js';

interface AuthenticationOptions {
  /** Asked at each try, so that a key that was removed in between is refused. */
  readonly keys: () => readonly PublicKey[];
  /** Refusals before the connection is cut. Clients ask first which methods there are, by `none`: that is not counted once. */
  readonly maxTries: number;
  readonly onAccepted: (key: PublicKey) => void;
  readonly onTooManyTries: () => void;
}

/**
 * Answers the tries of one connection. Passwords, `none` and every other method are refused, and so are RSA signatures by
 * SHA-1. The user name is ignored: a sandbox has one user.
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
  // What cannot be verified is answered with an error object, which is truthy, so the result is compared with `true`.
  const verified: unknown = parsed.verify(blob, signature, hashAlgo);
  return verified === true;
}

function digest(blob: Buffer): Buffer {
  return createHash('sha256').update(blob).digest();
}
