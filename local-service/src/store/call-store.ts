/**
 * The log of calls: every request, whether it was answered or not. It is only for tests, so it is written in batches,
 * and a request does not cost a commit. A kill loses only the calls of the last moment.
 */
import type { Database } from './database.js';

export interface CallRecord {
  /** When the request arrived: `at` as a date-time, `receivedAt` in milliseconds since the epoch, with fractions. */
  readonly at: string;
  readonly receivedAt: number;
  /** `unknown` if no endpoint matches. */
  readonly endpoint: string;
  readonly method: string;
  /** Without the parts that could be a secret. */
  readonly path: string;
  /** Null if no answer was sent. */
  readonly status: number | null;
  /** The error code of the answer; null if it has none. */
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

const flushMs = 200;
const flushAt = 500;

export type CallStore = ReturnType<typeof createCallStore>;

export function createCallStore(database: Database, options: { readonly maxRecords: number }) {
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
    add(call: CallRecord) {
      if (closed) return;
      const { endpoint, outcome, accepted } = call;
      const key = `${endpoint} ${outcome} ${accepted}`;
      counts.set(key, { endpoint, outcome, accepted, count: (counts.get(key)?.count ?? 0) + 1 });
      assumptions.add(call.assumptions, call.requestId);
      pending.push(call);
      if (pending.length >= flushAt) flush();
      else timer ??= setTimeout(flush, flushMs);
    },
    list(sandboxId?: string) {
      flush();
      const rows = sandboxId === undefined ? list.all() : listOf.all(sandboxId);
      return rows.map((row) => JSON.parse(row.document) as CallRecord);
    },
    counts: () => [...counts.values()],
    /** Reads a part of the book. */
    log(query: CallLogQuery) {
      flush();
      return log.read(query);
    },
    /** The number of the last call in the book. */
    last() {
      flush();
      return log.last();
    },
    assumptions: () => assumptions.list(),
    /** Writes the calls that are only in memory, and accepts no further calls. */
    close() {
      flush();
      closed = true;
    },
    /** Drops the calls that were not written yet, and reads the counts again. */
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

export interface CallLogEntry extends CallRecord {
  /** The number of the call, which grows with every call. `after` takes this number. */
  readonly seq: number;
}

interface CallLogQuery {
  /** Only calls after the call with this number, oldest first. Default: the last `limit` calls. */
  readonly after?: number | undefined;
  readonly limit: number;
  readonly endpoint?: string | undefined;
  /** A status, or its class: 404 or 4. */
  readonly status?: number | undefined;
}

function createCallLog(database: Database) {
  const wanted = `(?2 IS NULL OR endpoint = ?2) AND
    (?3 IS NULL OR document ->> 'status' = ?3 OR document ->> 'status' / 100 = ?3)`;
  const after = database.prepare<{ seq: number; document: string }>(
    `SELECT seq, document FROM calls WHERE seq > ?1 AND ${wanted} ORDER BY seq LIMIT ?4`,
  );
  const latest = database.prepare<{ seq: number; document: string }>(
    `SELECT seq, document FROM calls WHERE seq > ?1 AND ${wanted} ORDER BY seq DESC LIMIT ?4`,
  );
  const last = database.prepare<{ seq: number | null }>('SELECT max(seq) AS seq FROM calls');
  return {
    read(query: CallLogQuery) {
      const values = [query.after ?? 0, query.endpoint ?? null, query.status ?? null, query.limit] as const;
      const rows = query.after === undefined ? latest.all(...values).reverse() : after.all(...values);
      return rows.map(({ seq, document }) => ({ seq, ...(JSON.parse(document) as CallRecord) }));
    },
    /** The number of the last call. */
    last: () => last.get()?.seq ?? 0,
  };
}

interface TouchedAssumption {
  readonly id: string;
  readonly count: number;
  /** The first request whose answer relied on the assumption. */
  readonly firstRequestId: string;
}

function createAssumptionCounts(database: Database) {
  const put = database.prepare('INSERT OR REPLACE INTO assumption_counts VALUES (?, ?, ?)');
  const load = database.prepare<TouchedAssumption>('SELECT * FROM assumption_counts');
  const counts = new Map<string, TouchedAssumption>();
  return {
    add(ids: readonly string[], requestId: string) {
      for (const id of ids) {
        const { count = 0, firstRequestId = requestId } = counts.get(id) ?? {};
        counts.set(id, { id, count: count + 1, firstRequestId });
      }
    },
    /** The assumptions that answers relied on, sorted by id. */
    list: () => [...counts.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    /** Stores the counts; part of the current transaction. */
    save() {
      for (const { id, count, firstRequestId } of counts.values()) put.run(id, count, firstRequestId);
    },
    load() {
      counts.clear();
      for (const { id, count, firstRequestId } of load.all()) counts.set(id, { id, count, firstRequestId });
    },
  };
}
