/** Stops, kept after a resume or a later stop (specification, "StopOperation"). */
import type { Database } from './database.js';
import type { StopRecord } from './sandbox-record.js';

export interface StoredStop extends StopRecord {
  readonly sandboxId: string;
}

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
