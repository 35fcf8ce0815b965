/**
 * The usage of each key, and the conversations that it has begun. Requests are counted in memory and written in
 * batches, so that a request costs no commit. A kill loses the counts of the last moment.
 */
import type { Clock } from '../clock.js';
import type { Database } from './database.js';

const dayMs = 24 * 3_600_000;
/** Specification, "API key": the total of 30 days. */
const usageDays = 30;
const flushMs = 200;

export function createKeyUsageStore(database: Database, clock: Clock) {
  const add = database.prepare(
    `INSERT INTO key_usage VALUES (?, ?, ?, ?) ON CONFLICT (keyId, day) DO UPDATE SET
       requests = requests + excluded.requests, lastUsedAt = max(lastUsedAt, excluded.lastUsedAt)`,
  );
  const sum = database.prepare<{ total: number | null }>(
    'SELECT sum(requests) AS total FROM key_usage WHERE keyId = ? AND day > ?',
  );
  const last = database.prepare<{ at: number | null }>('SELECT max(lastUsedAt) AS at FROM key_usage WHERE keyId = ?');
  const addAgent = database.prepare('INSERT OR IGNORE INTO key_agents VALUES (?, ?, ?)');
  const agents = database.prepare<{ sandboxId: string }>('SELECT sandboxId FROM key_agents WHERE keyId = ?');
  const dayOf = (ms: number): number => Math.floor(ms / dayMs);
  let pending = new Map<string, { keyId: string; day: number; requests: number; lastUsedAt: number }>();
  let timer: NodeJS.Timeout | undefined;

  function forget(): void {
    clearTimeout(timer);
    timer = undefined;
    pending = new Map();
  }

  function flush(): void {
    const counted = [...pending.values()];
    forget();
    if (counted.length === 0) return;
    database.transaction(() => {
      for (const { keyId, day, requests, lastUsedAt } of counted) add.run(keyId, day, requests, lastUsedAt);
    });
  }

  return {
    /** Counts a request at the current time. */
    count(keyId: string) {
      const now = clock.now();
      const day = dayOf(now);
      const place = `${keyId} ${day}`;
      const entry = pending.get(place) ?? { keyId, day, requests: 0, lastUsedAt: now };
      entry.requests++;
      entry.lastUsedAt = Math.max(entry.lastUsedAt, now);
      pending.set(place, entry);
      timer ??= setTimeout(flush, flushMs);
    },
    /** Requests of the last 30 days. */
    requests(keyId: string) {
      flush();
      return sum.get(keyId, dayOf(clock.now()) - usageDays)?.total ?? 0;
    },
    /** The time of the last request, in milliseconds since the epoch; null for a key that was never used. */
    lastUsedAt(keyId: string) {
      flush();
      return last.get(keyId)?.at ?? null;
    },
    /** Records a conversation that a prompt with the key has begun. */
    addAgent: (
      keyId: string,
      { conversationId, sandboxId }: { readonly conversationId: string; readonly sandboxId: string },
    ) => void addAgent.run(conversationId, keyId, sandboxId),
    /** The sandboxes of the conversations that the key has begun, one entry for each conversation. */
    agentSandboxes: (keyId: string) => agents.all(keyId).map(({ sandboxId }) => sandboxId),
    /** Forgets the counts that were not written yet, since the database was emptied. */
    load: forget,
    /** Writes the counts that are only in memory. */
    close: flush,
  };
}
