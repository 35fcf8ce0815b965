/** Deletion operations (assumptions, "Records"). */
import type { Database } from './database.js';

export interface DeletionRecord {
  readonly id: string;
  /** What is deleted, or the sandbox of the snapshot that is deleted. */
  readonly sandboxId: string;
  /** Null if a sandbox is deleted. */
  readonly snapshotId: string | null;
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  readonly requestedAt: string;
  readonly completedAt: string | null;
  readonly error: string | null;
}

export interface DeletionStore {
  get(operationId: string): DeletionRecord | undefined;
  /** The one under way for a sandbox; those of its snapshots do not count. */
  openOf(sandboxId: string): DeletionRecord | undefined;
  /** The one under way for a snapshot. */
  openOfSnapshot(snapshotId: string): DeletionRecord | undefined;
  put(deletion: DeletionRecord): void;
}

const columns = 'id, sandboxId, status, requestedAt, completedAt, error, snapshotId';

export function createDeletionStore(database: Database): DeletionStore {
  const get = database.prepare<DeletionRecord>('SELECT * FROM deletions WHERE id = ?');
  const open = database.prepare<DeletionRecord>(
    "SELECT * FROM deletions WHERE sandboxId = ? AND snapshotId IS NULL AND status IN ('pending', 'running')",
  );
  const openOfSnapshot = database.prepare<DeletionRecord>(
    "SELECT * FROM deletions WHERE snapshotId = ? AND status IN ('pending', 'running')",
  );
  const put = database.prepare(`INSERT OR REPLACE INTO deletions (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return {
    get: (operationId) => get.get(operationId),
    openOf: (sandboxId) => open.get(sandboxId),
    openOfSnapshot: (snapshotId) => openOfSnapshot.get(snapshotId),
    put: ({ id, sandboxId, status, requestedAt, completedAt, error, snapshotId }) =>
      void put.run(id, sandboxId, status, requestedAt, completedAt, error, snapshotId),
  };
}
