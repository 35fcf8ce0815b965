/** The event history of sandboxes, which is polled; not the webhooks. Ids are ordered within a sandbox. */
import type { Clock } from '../clock.js';
import type { Database } from './database.js';

interface HistoryRow {
  readonly seq: number;
  readonly type: string;
  readonly conversationId: string;
  readonly promptId: string;
  readonly createdAt: number;
  readonly data: string;
}

interface HistoryEvent {
  readonly id: string;
  readonly type: string;
  readonly conversationId: string;
  readonly promptId: string;
  readonly createdAt: string;
  readonly data: unknown;
}

interface HistoryQuery {
  readonly sandboxId: string;
  readonly conversationId?: string;
  /** Only events after the one of this number. */
  readonly afterSeq: number;
  /** Only events up to this time, in milliseconds since the epoch. */
  readonly untilMs: number;
  readonly limit: number;
}

export interface HistoryStore {
  add(event: {
    readonly sandboxId: string;
    readonly type: string;
    readonly conversationId: string;
    readonly promptId: string;
    readonly data: Readonly<Record<string, unknown>>;
  }): void;
  list(query: HistoryQuery): HistoryEvent[];
}

const idPattern = /^sev_([0-9a-f]{24})$/;

/** The number in an event id, or undefined when it is none. */
export function historySeqOf(eventId: string): number | undefined {
  const digits = idPattern.exec(eventId)?.[1];
  const seq = digits === undefined ? Number.NaN : Number.parseInt(digits, 16);
  return Number.isNaN(seq) ? undefined : Math.min(seq, Number.MAX_SAFE_INTEGER);
}

export function createHistoryStore(database: Database, clock: Clock): HistoryStore {
  const add = database.prepare(
    'INSERT INTO history (sandboxId, type, conversationId, promptId, createdAt, data) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const list = database.prepare<HistoryRow>(
    'SELECT * FROM history WHERE sandboxId = ? AND seq > ? AND createdAt <= ? ORDER BY seq LIMIT ?',
  );
  const listConversation = database.prepare<HistoryRow>(
    `SELECT * FROM history WHERE sandboxId = ? AND seq > ? AND createdAt <= ? AND conversationId = ?
     ORDER BY seq LIMIT ?`,
  );
  return {
    add({ sandboxId, type, conversationId, promptId, data }) {
      add.run(sandboxId, type, conversationId, promptId, clock.now(), JSON.stringify(data));
    },
    list({ sandboxId, conversationId, afterSeq, untilMs, limit }) {
      const rows =
        conversationId === undefined
          ? list.all(sandboxId, afterSeq, untilMs, limit)
          : listConversation.all(sandboxId, afterSeq, untilMs, conversationId, limit);
      return rows.map(({ seq, type, conversationId: of, promptId, createdAt, data }) => ({
        id: `sev_${seq.toString(16).padStart(24, '0')}`,
        type,
        conversationId: of,
        promptId,
        createdAt: new Date(createdAt).toISOString(),
        data: JSON.parse(data) as unknown,
      }));
    },
  };
}
