/** Idempotency keys of creates and forks (specification, "Idempotency results"). */
import type { Database } from './database.js';

interface IdempotencyRecord {
  readonly key: string;
  /** Tells one request from another. */
  readonly bodyHash: string;
  /** Null while the sandbox does not exist yet. */
  readonly sandboxId: string | null;
  readonly claimedAt: number;
}

/** Keys are those of an account: `<account id> <key>`. */
export interface IdempotencyStore {
  get(key: string): IdempotencyRecord | undefined;
  claim(key: string, bodyHash: string, claimedAt: number): void;
  complete(key: string, sandboxId: string): void;
  release(key: string): void;
  removeClaimedBefore(ms: number): void;
}

export function createIdempotencyStore(database: Database): IdempotencyStore {
  const get = database.prepare<IdempotencyRecord>('SELECT * FROM idempotency_keys WHERE key = ?');
  const claim = database.prepare('INSERT OR REPLACE INTO idempotency_keys VALUES (?, ?, NULL, ?)');
  const complete = database.prepare('UPDATE idempotency_keys SET sandboxId = ? WHERE key = ?');
  const release = database.prepare('DELETE FROM idempotency_keys WHERE key = ?');
  const removeOld = database.prepare('DELETE FROM idempotency_keys WHERE claimedAt < ?');
  return {
    get: (key) => get.get(key),
    claim: (key, bodyHash, claimedAt) => void claim.run(key, bodyHash, claimedAt),
    complete: (key, sandboxId) => void complete.run(sandboxId, key),
    release: (key) => void release.run(key),
    removeClaimedBefore: (ms) => void removeOld.run(ms),
  };
}
