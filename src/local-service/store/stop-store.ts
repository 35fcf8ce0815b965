/** Stops, kept after a resume or a later stop (specification, "StopOperation"). */
import type { Database } from './database.js';
import type { StopRecord } from './sandbox-record.js';

export interface StoredStop extends StopRecord {
  readonly sandboxId: string;
}

export interface StopStore {
  get(stopId: string): StoredStop | undefined;
  put(sandboxId: string, stop: StopRecord): void;
  of(sandboxId: string): StoredStop[];
  all(): StoredStop[];
}

export function createStopStore(database: Database): StopStore {
  const get = database.prepare<StoredStop>('SELECT * FROM stops WHERE id = ?');
  const of = database.prepare<StoredStop>('SELECT * FROM stops WHERE sandboxId = ? ORDER BY requestedAt');
  const all = database.prepare<StoredStop>('SELECT * FROM stops ORDER BY requestedAt');
  const put = database.prepare('INSERT OR REPLACE INTO stops VALUES (?, ?, ?, ?, ?, ?, ?)');
  return {
    get: (stopId) => get.get(stopId),
    put(sandboxId, stop) {
      put.run(stop.id, sandboxId, stop.status, stop.requestedAt, stop.lastAttemptAt, stop.error, stop.endedAt);
    },
    of: (sandboxId) => of.all(sandboxId),
    all: () => all.all(),
  };
}
