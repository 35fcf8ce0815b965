/** How often answers have relied on each assumption, and by which request first. Kept in memory, written in batches. */
import type { Database } from './database.js';

export interface TouchedAssumption {
  readonly id: string;
  readonly count: number;
  /** The first request whose answer relied on it. */
  readonly firstRequestId: string;
}

export interface AssumptionCounts {
  add(ids: readonly string[], requestId: string): void;
  /** Those that were touched, by id. */
  list(): readonly TouchedAssumption[];
  /** Writes them down; part of the transaction of now. */
  save(): void;
  load(): void;
}

export function createAssumptionCounts(database: Database): AssumptionCounts {
  const put = database.prepare('INSERT OR REPLACE INTO assumption_counts VALUES (?, ?, ?)');
  const load = database.prepare<TouchedAssumption>('SELECT * FROM assumption_counts');
  const counts = new Map<string, TouchedAssumption>();
  return {
    add(ids, requestId) {
      for (const id of ids) {
        const { count = 0, firstRequestId = requestId } = counts.get(id) ?? {};
        counts.set(id, { id, count: count + 1, firstRequestId });
      }
    },
    list: () => [...counts.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    save() {
      for (const { id, count, firstRequestId } of counts.values()) put.run(id, count, firstRequestId);
    },
    load() {
      counts.clear();
      for (const { id, count, firstRequestId } of load.all()) counts.set(id, { id, count, firstRequestId });
    },
  };
}
