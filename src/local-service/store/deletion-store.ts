/** Deletion operations (assumptions, "Records"). */
import type { Database } from './database.js';

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

const columns = 'id, sandboxId, status, requestedAt, completedAt, error, snapshotId';

export function createDeletionStore(database: Database) {
  const get = database.prepare<DeletionRecord>('SELECT * FROM deletions WHERE id = ?');
  const open = database.prepare<DeletionRecord>(
    "SELECT * FROM deletions WHERE sandboxId = ? AND snapshotId IS NULL AND status IN ('pending', 'running')",
  );
  const openOfSnapshot = database.prepare<DeletionRecord>(
    "SELECT * FROM deletions WHERE snapshotId = ? AND status IN ('pending', 'running')",
  );
  const put = database.prepare(`INSERT OR REPLACE INTO deletions (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
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
