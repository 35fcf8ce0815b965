/** Completed snapshots. A name belongs to one snapshot of an account at a time. */
import type { Database } from './database.js';

export interface SnapshotRecord {
  readonly id: string;
  readonly sandboxId: string;
  /** The account of its sandbox. */
  readonly ownerId: string;
  readonly name: string | null;
  readonly sizeBytes: number;
  readonly createdAt: string;
  readonly completedAt: string;
  /** 1 once its data was deleted, 14 days after the stop. */
  readonly expired: number;
  /** 1 once its deletion is accepted: the record stays only until the deletion is done. */
  readonly deleted: number;
}

export function createSnapshotStore(database: Database) {
  const add = database.prepare(
    'INSERT INTO snapshots (id, sandboxId, ownerId, sizeBytes, createdAt, completedAt) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const get = database.prepare<SnapshotRecord>('SELECT * FROM snapshots WHERE id = ?');
  const named = database.prepare<SnapshotRecord>('SELECT * FROM snapshots WHERE name = ? AND deleted = 0 ORDER BY seq');
  const of = database.prepare<SnapshotRecord>(
    'SELECT * FROM snapshots WHERE sandboxId = ? AND deleted = 0 ORDER BY seq',
  );
  const available = database.prepare<SnapshotRecord>(
    'SELECT * FROM snapshots WHERE expired = 0 AND deleted = 0 ORDER BY seq',
  );
  const unname = database.prepare(
    'UPDATE snapshots SET name = NULL WHERE name = ? AND ownerId = (SELECT ownerId FROM snapshots WHERE id = ?)',
  );
  const name = database.prepare('UPDATE snapshots SET name = ? WHERE id = ?');
  const expire = database.prepare('UPDATE snapshots SET expired = 1 WHERE sandboxId = ?');
  const markDeleted = database.prepare('UPDATE snapshots SET deleted = 1, name = NULL WHERE id = ?');
  const remove = database.prepare('DELETE FROM snapshots WHERE id = ?');
  const ids = database.prepare<{ id: string }>('SELECT id FROM snapshots');
  return {
    add: ({
      id,
      sandboxId,
      ownerId,
      sizeBytes,
      createdAt,
      completedAt,
    }: Omit<SnapshotRecord, 'expired' | 'deleted' | 'name'>) =>
      void add.run(id, sandboxId, ownerId, sizeBytes, createdAt, completedAt),
    /** Finds a snapshot, even an expired or deleted one. */
    get: (snapshotId: string) => get.get(snapshotId),
    /** The snapshots with a name, of every account; deleted ones are left out. */
    named: (wanted: string) => named.all(wanted),
    /** The snapshots of a sandbox that are not deleted, oldest first. */
    of: (sandboxId: string) => of.all(sandboxId),
    /** The snapshots that are neither expired nor deleted, oldest first. */
    available: () => available.all(),
    /** Gives the name to a snapshot and takes it from the snapshot of the same account that had it. */
    rename(snapshotId: string, wanted: string) {
      unname.run(wanted, snapshotId);
      name.run(wanted, snapshotId);
    },
    markExpired: (sandboxId: string) => void expire.run(sandboxId),
    /** Marks a snapshot as deleted, and removes its name. */
    markDeleted: (snapshotId: string) => void markDeleted.run(snapshotId),
    remove: (snapshotId: string) => void remove.run(snapshotId),
    allIds: () => ids.all().map((row) => row.id),
  };
}
