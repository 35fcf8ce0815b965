/**
 * Sandboxes. Every record is in the database. Sandboxes that are not gone are also in memory, so that get and list read
 * no disk. A rollback also takes back changes in memory.
 */
import type { Database } from './database.js';
import { type SandboxRecord, sandboxRecordDefaults } from './sandbox-record.js';

export function createSandboxStore(database: Database) {
  const living = new Map<string, SandboxRecord>();
  const put = database.prepare(
    `INSERT INTO sandboxes (id, name, gone, document) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, gone = excluded.gone, document = excluded.document`,
  );
  const find = database.prepare<{ document: string }>('SELECT document FROM sandboxes WHERE id = ?');
  const load = database.prepare<{ document: string }>('SELECT document FROM sandboxes WHERE gone IS NULL ORDER BY seq');
  const all = database.prepare<{ document: string }>('SELECT document FROM sandboxes ORDER BY seq');
  const byName = database.prepare<{ document: string }>('SELECT document FROM sandboxes WHERE name = ? ORDER BY seq');
  const createdSince = database.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM sandboxes WHERE document ->> 'createdAt' >= ?1 AND
       CASE WHEN ?2 = '' THEN document ->> 'teamId' IS NULL AND
         coalesce(document ->> 'ownerId', '${sandboxRecordDefaults.ownerId}') = ?3
       ELSE document ->> 'teamId' = ?2 END`,
  );
  const parse = (row: { document: string }) =>
    ({ ...sandboxRecordDefaults, ...JSON.parse(row.document) }) as SandboxRecord;

  function remember(record: SandboxRecord | undefined, id: string): void {
    if (record && record.gone === null) living.set(id, record);
    else living.delete(id);
  }

  return {
    /** Finds a sandbox that is not gone. */
    get: (id: string) => living.get(id),
    /** Gone or not. */
    find(id: string) {
      const known = living.get(id);
      if (known) return known;
      const row = find.get(id);
      return row && parse(row);
    },
    /** The sandboxes that are not gone, oldest first. */
    living: () => living.values(),
    get livingCount() {
      return living.size;
    },
    put(record: SandboxRecord) {
      put.run(record.id, record.name, record.gone, JSON.stringify(record));
      const before = living.get(record.id);
      remember(record, record.id);
      database.onRollback(() => remember(before, record.id));
    },
    /** The sandboxes with this id and this name, if given; gone or not, oldest first. */
    all({ id, name }: { readonly id?: string; readonly name?: string }) {
      if (id !== undefined) {
        const row = find.get(id);
        const record = row && parse(row);
        return record && (name === undefined || record.name === name) ? [record] : [];
      }
      return (name === undefined ? all.all() : byName.all(name)).map(parse);
    },
    /**
     * Counts the sandboxes that an organization is billed for; with `teamId` null, those that the account is billed
     * for.
     */
    countCreatedSince: (
      iso: string,
      { accountId, teamId }: { readonly accountId: string; readonly teamId: string | null },
    ) => createdSince.get(iso, teamId ?? '', accountId)?.count ?? 0,
    /** Loads memory from the database. */
    load() {
      living.clear();
      for (const row of load.all()) {
        const record = parse(row);
        living.set(record.id, record);
      }
    },
  };
}
