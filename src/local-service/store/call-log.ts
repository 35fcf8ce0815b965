/** Reads the call book in pieces, for a log that one can follow. */
import type { CallRecord } from './call-store.js';
import type { Database } from './database.js';

export interface CallLogEntry extends CallRecord {
  /** Grows with every call; what `after` takes. */
  readonly seq: number;
}

export interface CallLogQuery {
  /** Only calls after this one, oldest first. Without it: the last `limit` calls. */
  readonly after?: number | undefined;
  readonly limit: number;
  readonly endpoint?: string | undefined;
  /** A status, or its class: 404 or 4. */
  readonly status?: number | undefined;
}

export interface CallLog {
  read(query: CallLogQuery): readonly CallLogEntry[];
  /** The number of the last call that there is. */
  last(): number;
}

export function createCallLog(database: Database): CallLog {
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
    read(query) {
      const values = [query.after ?? 0, query.endpoint ?? null, query.status ?? null, query.limit] as const;
      const rows = query.after === undefined ? latest.all(...values).reverse() : after.all(...values);
      return rows.map(({ seq, document }) => ({ seq, ...(JSON.parse(document) as CallRecord) }));
    },
    last: () => last.get()?.seq ?? 0,
  };
}
