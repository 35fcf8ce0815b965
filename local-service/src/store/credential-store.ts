/** API keys, sessions and the credentials written into sandboxes: their hashes, never their secrets. */
import type { KeyAction, KeyPreset } from '../../../src/contract/records/key-presets.js';
import type { Database } from './database.js';

export interface CredentialScope {
  readonly actions: readonly KeyAction[];
  /**
   * `sandboxIds` is null if the key is not limited to particular sandboxes, `environmentIds` if it is not limited to
   * particular environments.
   */
  readonly sandboxIds: readonly string[] | null;
  readonly environmentIds: readonly string[] | null;
}

export interface CredentialRecord {
  readonly id: string;
  readonly accountId: string;
  /** `session`: a browser or the command line. `sandbox`: written into a sandbox. */
  readonly kind: 'api_key' | 'session' | 'sandbox';
  readonly name: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  readonly prefix: string;
  readonly lastFour: string;
  /** Null for unscoped keys and sessions, which have access to the whole account. */
  readonly scope: CredentialScope | null;
  readonly preset: KeyPreset | null;
  readonly createdAt: string;
  /** Null: it never expires. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

export function createCredentialStore(database: Database) {
  const byId = new Map<string, CredentialRecord>();
  const byHash = new Map<string, CredentialRecord>();
  const bySandbox = new Map<string, CredentialRecord>();
  const sandboxOf = ({ kind, scope }: CredentialRecord) => (kind === 'sandbox' ? scope?.sandboxIds?.[0] : undefined);
  const put = database.prepare(
    `INSERT INTO credentials (id, accountId, hash, document) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, document = excluded.document`,
  );
  const remove = database.prepare('DELETE FROM credentials WHERE id = ?');
  const load = database.prepare<{ document: string }>('SELECT document FROM credentials ORDER BY seq');

  function remember(id: string, next: CredentialRecord | undefined): void {
    const before = byId.get(id);
    if (before) {
      byHash.delete(before.hash);
      bySandbox.delete(sandboxOf(before) ?? '');
    }
    if (!next) {
      byId.delete(id);
      return;
    }
    byId.set(id, next);
    byHash.set(next.hash, next);
    const sandboxId = sandboxOf(next);
    if (sandboxId !== undefined) bySandbox.set(sandboxId, next);
  }

  function change(id: string, next: CredentialRecord | undefined): void {
    const before = byId.get(id);
    remember(id, next);
    database.onRollback(() => remember(id, before));
  }

  function removeOne(id: string): void {
    remove.run(id);
    change(id, undefined);
  }

  return {
    get: (id: string) => byId.get(id),
    byHash: (hash: string) => byHash.get(hash),
    /**
     * The keys of an account that are not revoked, oldest first; sessions and credentials of sandboxes are left out.
     */
    keysOf: (accountId: string) =>
      [...byId.values()].filter(
        (key) => key.accountId === accountId && key.kind === 'api_key' && key.revokedAt === null,
      ),
    /** The credential written into a sandbox. */
    ofSandbox: (sandboxId: string) => bySandbox.get(sandboxId),
    put(credential: CredentialRecord) {
      const { id, accountId, hash } = credential;
      put.run(id, accountId, hash, JSON.stringify(credential));
      change(id, credential);
    },
    remove: removeOne,
    /** Removes the credentials of sandboxes that no longer exist. */
    removeOfSandboxes(gone: (sandboxId: string) => boolean) {
      for (const [sandboxId, { id }] of [...bySandbox]) if (gone(sandboxId)) removeOne(id);
    },
    load() {
      byId.clear();
      byHash.clear();
      bySandbox.clear();
      for (const row of load.all()) {
        const credential = JSON.parse(row.document) as CredentialRecord;
        remember(credential.id, credential);
      }
    },
  };
}
