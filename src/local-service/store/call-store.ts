/**
 * The call book: every request, whether it was answered or not. Written in batches, since it is for tests to read and
 * must not cost a commit each; a kill loses what has not been written for a moment, and nothing else.
 */
import { type AssumptionCounts, createAssumptionCounts } from './assumption-counts.js';
import { type CallLogEntry, type CallLogQuery, createCallLog } from './call-log.js';
import type { Database } from './database.js';

export interface CallRecord {
  /** When the request came, as a date-time and in milliseconds since the epoch with fractions. */
  readonly at: string;
  readonly receivedAt: number;
  /** `unknown` where no endpoint matches. */
  readonly endpoint: string;
  readonly method: string;
  /** Without what could be a secret. */
  readonly path: string;
  /** Null if no answer was sent. */
  readonly status: number | null;
  /** The error code of the answer, where it has one. */
  readonly code: string | null;
  /** From the arrival of the request until its answer was sent. */
  readonly durationMs: number;
  readonly outcome: 'answered' | 'dropped' | 'closed' | 'late';
  /** True when the request took effect. */
  readonly accepted: boolean;
  readonly idempotencyKey: string | null;
  readonly sandboxId: string | null;
  readonly requestId: string;
  /** Ids of the assumptions that the answer relied on. */
  readonly assumptions: readonly string[];
}

export interface CallCount {
  readonly endpoint: string;
  readonly outcome: CallRecord['outcome'];
  readonly accepted: boolean;
  readonly count: number;
}

export interface CallStore {
  add(call: CallRecord): void;
  list(sandboxId?: string): CallRecord[];
  counts(): CallCount[];
  /** The book in pieces. */
  log(query: CallLogQuery): readonly CallLogEntry[];
  /** The number of the last call in the book. */
  last(): number;
  assumptions(): ReturnType<AssumptionCounts['list']>;
  /** Writes what is left, and takes no more. */
  close(): void;
  /** Forgets what was not written yet, and reads the counts anew. */
  load(): void;
}

const flushMs = 200;
const flushAt = 500;

export function createCallStore(database: Database, options: { readonly maxRecords: number }): CallStore {
  const { maxRecords } = options;
  const add = database.prepare('INSERT INTO calls (endpoint, sandboxId, document) VALUES (?, ?, ?)');
  const trim = database.prepare('DELETE FROM calls WHERE seq <= ?');
  const list = database.prepare<{ document: string }>('SELECT document FROM calls ORDER BY seq');
  const listOf = database.prepare<{ document: string }>('SELECT document FROM calls WHERE sandboxId = ? ORDER BY seq');
  const putCount = database.prepare('INSERT OR REPLACE INTO call_counts VALUES (?, ?, ?, ?)');
  const loadCounts = database.prepare<Omit<CallCount, 'accepted'> & { accepted: number }>('SELECT * FROM call_counts');
  const assumptions = createAssumptionCounts(database);
  const log = createCallLog(database);
  let closed = false;
  let pending: CallRecord[] = [];
  let timer: NodeJS.Timeout | undefined;
  const counts = new Map<string, CallCount>();

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const calls = pending;
    pending = [];
    if (calls.length === 0) return;
    database.transaction(() => {
      let last = 0;
      for (const call of calls) last = add.run(call.endpoint, call.sandboxId, JSON.stringify(call)).lastInsertRowid;
      trim.run(last - maxRecords);
      for (const { endpoint, outcome, accepted, count } of counts.values()) {
        putCount.run(endpoint, outcome, accepted ? 1 : 0, count);
      }
      assumptions.save();
    });
  }

  return {
    add(call) {
      if (closed) return;
      const { endpoint, outcome, accepted } = call;
      const key = `${endpoint} ${outcome} ${accepted}`;
      counts.set(key, { endpoint, outcome, accepted, count: (counts.get(key)?.count ?? 0) + 1 });
      assumptions.add(call.assumptions, call.requestId);
      pending.push(call);
      if (pending.length >= flushAt) flush();
      else timer ??= setTimeout(flush, flushMs);
    },
    list(sandboxId) {
      flush();
      const rows = sandboxId === undefined ? list.all() : listOf.all(sandboxId);
      return rows.map((row) => JSON.parse(row.document) as CallRecord);
    },
    counts: () => [...counts.values()],
    log(query) {
      flush();
      return log.read(query);
    },
    last() {
      flush();
      return log.last();
    },
    assumptions: () => assumptions.list(),
    close() {
      flush();
      closed = true;
    },
    load() {
      clearTimeout(timer);
      timer = undefined;
      pending = [];
      counts.clear();
      assumptions.load();
      for (const row of loadCounts.all()) {
        const accepted = row.accepted === 1;
        counts.set(`${row.endpoint} ${row.outcome} ${accepted}`, { ...row, accepted });
      }
    },
  };
}
