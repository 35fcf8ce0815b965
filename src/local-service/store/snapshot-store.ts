/** Completed snapshots. A name belongs to one snapshot at a time. */
import type { Database } from './database.js';

interface SnapshotRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string | null;
  readonly sizeBytes: number;
  readonly completedAt: string;
  /** 1 once its data was deleted. */
  readonly expired: number;
}

export interface SnapshotStore {
  add(snapshot: Omit<SnapshotRecord, 'expired' | 'name'>): void;
  byName(name: string): SnapshotRecord | undefined;
  /** Oldest first. */
  of(sandboxId: string): SnapshotRecord[];
  /** Gives the name to a snapshot and takes it from the one that had it. */
  rename(snapshotId: string, name: string): void;
  markExpired(sandboxId: string): void;
  remove(snapshotId: string): void;
  allIds(): string[];
}

export function createSnapshotStore(database: Database): SnapshotStore {
  const add = database.prepare('INSERT INTO snapshots (id, sandboxId, sizeBytes, completedAt) VALUES (?, ?, ?, ?)');
  const byName = database.prepare<SnapshotRecord>('SELECT * FROM snapshots WHERE name = ?');
  const of = database.prepare<SnapshotRecord>('SELECT * FROM snapshots WHERE sandboxId = ? ORDER BY seq');
  const unname = database.prepare('UPDATE snapshots SET name = NULL WHERE name = ?');
  const name = database.prepare('UPDATE snapshots SET name = ? WHERE id = ?');
  const expire = database.prepare('UPDATE snapshots SET expired = 1 WHERE sandboxId = ?');
  const remove = database.prepare('DELETE FROM snapshots WHERE id = ?');
  const ids = database.prepare<{ id: string }>('SELECT id FROM snapshots');
  return {
    add: ({ id, sandboxId, sizeBytes, completedAt }) => void add.run(id, sandboxId, sizeBytes, completedAt),
    byName: (wanted) => byName.get(wanted),
    of: (sandboxId) => of.all(sandboxId),
    rename(snapshotId, wanted) {
      unname.run(wanted);
      name.run(wanted, snapshotId);
    },
    markExpired: (sandboxId) => void expire.run(sandboxId),
    remove: (snapshotId) => void remove.run(snapshotId),
    allIds: () => ids.all().map((row) => row.id),
  };
}
