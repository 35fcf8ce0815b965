/** Deletion operations (assumptions, "Records"). */
import type { Database } from './database.js';

export interface DeletionRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  readonly requestedAt: string;
  readonly completedAt: string | null;
  readonly error: string | null;
}

export interface DeletionStore {
  get(operationId: string): DeletionRecord | undefined;
  /** The one under way for a sandbox. */
  openOf(sandboxId: string): DeletionRecord | undefined;
  put(deletion: DeletionRecord): void;
}

export function createDeletionStore(database: Database): DeletionStore {
  const get = database.prepare<DeletionRecord>('SELECT * FROM deletions WHERE id = ?');
  const open = database.prepare<DeletionRecord>(
    "SELECT * FROM deletions WHERE sandboxId = ? AND status IN ('pending', 'running')",
  );
  const put = database.prepare('INSERT OR REPLACE INTO deletions VALUES (?, ?, ?, ?, ?, ?)');
  const plain = (row: DeletionRecord | undefined): DeletionRecord | undefined => {
    if (!row) return undefined;
    const { id, sandboxId, status, requestedAt, completedAt, error } = row;
    return { id, sandboxId, status, requestedAt, completedAt, error };
  };
  return {
    get: (operationId) => plain(get.get(operationId)),
    openOf: (sandboxId) => plain(open.get(sandboxId)),
    put: ({ id, sandboxId, status, requestedAt, completedAt, error }) =>
      void put.run(id, sandboxId, status, requestedAt, completedAt, error),
  };
}
