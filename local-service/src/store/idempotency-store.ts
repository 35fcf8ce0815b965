/** Idempotency keys of creates and forks (specification, "Idempotency results"). */
import type { Database } from './database.js';

export interface IdempotencyRecord {
  readonly key: string;
  /** Distinguishes requests with the same key. */
  readonly bodyHash: string;
  /** Null while the sandbox does not exist yet. */
  readonly sandboxId: string | null;
  readonly claimedAt: number;
}

/** Stored keys begin with their account: `<account id> <key>`. */
export function createIdempotencyStore(database: Database) {
  const get = database.prepare<IdempotencyRecord>('SELECT * FROM idempotency_keys WHERE key = ?');
  const claim = database.prepare('INSERT OR REPLACE INTO idempotency_keys VALUES (?, ?, NULL, ?)');
  const complete = database.prepare('UPDATE idempotency_keys SET sandboxId = ? WHERE key = ?');
  const release = database.prepare('DELETE FROM idempotency_keys WHERE key = ?');
  const removeOld = database.prepare('DELETE FROM idempotency_keys WHERE claimedAt < ?');
  return {
    get: (key: string) => get.get(key),
    claim: (key: string, bodyHash: string, claimedAt: number) => void claim.run(key, bodyHash, claimedAt),
    complete: (key: string, sandboxId: string) => void complete.run(sandboxId, key),
    release: (key: string) => void release.run(key),
    removeClaimedBefore: (ms: number) => void removeOld.run(ms),
  };
}
