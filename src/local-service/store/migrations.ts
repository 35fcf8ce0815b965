/** What brings a database of an earlier layout up to the next one. New tables need no entry: the schema makes them. */

/** By the layout that each leads to; run in order, before the schema. */
const steps: Readonly<Record<number, string>> = {
  // Snapshots have an account, whose names they share, and the time at which they were begun. Keys belong to an account.
  // Webhooks too, and they know their vocabulary.
  3: `
    ALTER TABLE snapshots RENAME TO snapshots_of_layout_2;
    CREATE TABLE snapshots (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, sandboxId TEXT NOT NULL, ownerId TEXT NOT NULL,
      name TEXT, sizeBytes INTEGER NOT NULL, createdAt TEXT NOT NULL, completedAt TEXT NOT NULL,
      expired INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0, UNIQUE (ownerId, name));
    INSERT INTO snapshots
      SELECT seq, id, sandboxId, 'acct_local', name, sizeBytes, completedAt, completedAt, expired, 0
      FROM snapshots_of_layout_2;
    DROP TABLE snapshots_of_layout_2;
    ALTER TABLE deletions ADD COLUMN snapshotId TEXT;
    ALTER TABLE webhooks ADD COLUMN accountId TEXT NOT NULL DEFAULT 'acct_local';
    ALTER TABLE webhooks ADD COLUMN legacy INTEGER NOT NULL DEFAULT 0;
    UPDATE idempotency_keys SET key = 'acct_local ' || key;`,
};

/** The statements that lead from one layout to another; none for a new database, whose layout is 0. */
export function migrationsFrom(layout: number, target: number): readonly string[] {
  if (layout === 0) return [];
  const versions = Array.from({ length: target - layout }, (_, index) => layout + index + 1);
  return versions.flatMap((version) => steps[version] ?? []);
}
