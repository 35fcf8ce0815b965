/** The secrets of accounts. Values leave this store only to be given to machines. */
import type { Database } from './database.js';

export interface SecretName {
  readonly name: string;
  readonly updatedAt: string;
}

export function createSecretStore(database: Database) {
  const names = database.prepare<SecretName>('SELECT name, updatedAt FROM secrets WHERE accountId = ? ORDER BY name');
  const values = database.prepare<{ name: string; value: string }>(
    'SELECT name, value FROM secrets WHERE accountId = ? ORDER BY name',
  );
  const put = database.prepare(
    'INSERT OR REPLACE INTO secrets (accountId, name, value, updatedAt) VALUES (?, ?, ?, ?)',
  );
  const remove = database.prepare('DELETE FROM secrets WHERE accountId = ? AND name = ?');
  return {
    /** Names and times, sorted by name; no values. */
    names: (accountId: string) => names.all(accountId),
    /** Values by name. Never show, log or keep them. */
    values: (accountId: string) => new Map(values.all(accountId).map(({ name, value }) => [name, value])),
    put: (accountId: string, { name, value, updatedAt }: SecretName & { readonly value: string }) =>
      void put.run(accountId, name, value, updatedAt),
    remove: (accountId: string, name: string) => void remove.run(accountId, name),
  };
}
