/** Sandboxes, their stops, and the deletions of sandboxes and snapshots. */
import type { Database } from './database.js';
import type { SandboxRecord, StopRecord } from './sandbox-record.js';

/**
 * Every record is in the database. Sandboxes that are not gone are also in memory, so that get and list read no disk. A
 * rollback also takes back changes in memory.
 */
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
  const after = database.prepare<{ id: string }>(
    'SELECT id FROM sandboxes WHERE gone IS NULL AND seq > (SELECT seq FROM sandboxes WHERE id = ?)',
  );
  const createdSince = database.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM sandboxes WHERE document ->> 'createdAt' >= ?1 AND
       CASE WHEN ?2 = '' THEN document ->> 'teamId' IS NULL AND document ->> 'ownerId' = ?3
       ELSE document ->> 'teamId' = ?2 END`,
  );
  const parse = (row: { document: string }) => JSON.parse(row.document) as SandboxRecord;

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
    /** The ids of the sandboxes that are not gone and were created after this one, gone or not. */
    idsAfter: (id: string) => new Set(after.all(id).map((row) => row.id)),
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

export interface StoredStop extends StopRecord {
  readonly sandboxId: string;
}

/** Stops, kept after a resume or a later stop (specification, "StopOperation"). */
export function createStopStore(database: Database) {
  const get = database.prepare<StoredStop>('SELECT * FROM stops WHERE id = ?');
  const of = database.prepare<StoredStop>('SELECT * FROM stops WHERE sandboxId = ? ORDER BY requestedAt');
  const all = database.prepare<StoredStop>('SELECT * FROM stops ORDER BY requestedAt');
  const put = database.prepare('INSERT OR REPLACE INTO stops VALUES (?, ?, ?, ?, ?, ?, ?)');
  return {
    get: (stopId: string) => get.get(stopId),
    put(sandboxId: string, stop: StopRecord) {
      put.run(stop.id, sandboxId, stop.status, stop.requestedAt, stop.lastAttemptAt, stop.error, stop.endedAt);
    },
    of: (sandboxId: string) => of.all(sandboxId),
    all: () => all.all(),
  };
}

/** A deletion operation (assumptions, "Records"). */
export interface DeletionRecord {
  readonly id: string;
  /** The sandbox that is deleted, or the sandbox of the snapshot that is deleted. */
  readonly sandboxId: string;
  /** Null if a sandbox is deleted. */
  readonly snapshotId: string | null;
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  readonly requestedAt: string;
  readonly completedAt: string | null;
  readonly error: string | null;
}

const deletionColumns = 'id, sandboxId, status, requestedAt, completedAt, error, snapshotId';

export function createDeletionStore(database: Database) {
  const get = database.prepare<DeletionRecord>('SELECT * FROM deletions WHERE id = ?');
  const open = database.prepare<DeletionRecord>(
    "SELECT * FROM deletions WHERE sandboxId = ? AND snapshotId IS NULL AND status IN ('pending', 'running')",
  );
  const openOfSnapshot = database.prepare<DeletionRecord>(
    "SELECT * FROM deletions WHERE snapshotId = ? AND status IN ('pending', 'running')",
  );
  const put = database.prepare(`INSERT OR REPLACE INTO deletions (${deletionColumns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return {
    get: (operationId: string) => get.get(operationId),
    /** The deletion that is under way for a sandbox; deletions of its snapshots do not count. */
    openOf: (sandboxId: string) => open.get(sandboxId),
    /** The deletion that is under way for a snapshot. */
    openOfSnapshot: (snapshotId: string) => openOfSnapshot.get(snapshotId),
    put: ({ id, sandboxId, status, requestedAt, completedAt, error, snapshotId }: DeletionRecord) =>
      void put.run(id, sandboxId, status, requestedAt, completedAt, error, snapshotId),
  };
}
