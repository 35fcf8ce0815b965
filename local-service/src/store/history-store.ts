/**
 * The event history of sandboxes, which clients poll; webhooks are separate from it. Ids are ordered within a sandbox.
 */
import type { Clock } from '../clock.js';
import type { Database } from './database.js';

export interface HistoryRow {
  readonly seq: number;
  readonly sandboxId: string;
  readonly type: string;
  readonly conversationId: string;
  readonly promptId: string;
  readonly createdAt: number;
  readonly data: string;
}

type NewEvent = Pick<HistoryRow, 'sandboxId' | 'type' | 'conversationId' | 'promptId'> & {
  readonly data: Readonly<Record<string, unknown>>;
};

export interface HistoryQuery {
  readonly sandboxId: string;
  readonly conversationId?: string;
  /** Only events after the event with this number. */
  readonly afterSeq: number;
  /** Only events up to this time, in milliseconds since the epoch. */
  readonly untilMs: number;
  readonly limit: number;
}

const idPattern = /^sev_([0-9a-f]{24})$/;

/** The number in an event id; undefined if the text is not an event id. */
export function historySeqOf(eventId: string): number | undefined {
  const digits = idPattern.exec(eventId)?.[1];
  const seq = digits === undefined ? Number.NaN : Number.parseInt(digits, 16);
  return Number.isNaN(seq) ? undefined : Math.min(seq, Number.MAX_SAFE_INTEGER);
}

export function createHistoryStore(database: Database, clock: Clock) {
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
    add({ sandboxId, type, conversationId, promptId, data }: NewEvent) {
      add.run(sandboxId, type, conversationId, promptId, clock.now(), JSON.stringify(data));
    },
    list({ sandboxId, conversationId, afterSeq, untilMs, limit }: HistoryQuery) {
      const rows =
        conversationId === undefined
          ? list.all(sandboxId, afterSeq, untilMs, limit)
          : listConversation.all(sandboxId, afterSeq, untilMs, conversationId, limit);
      return rows.map(({ seq, sandboxId: _, createdAt, data, ...event }) => ({
        id: `sev_${seq.toString(16).padStart(24, '0')}`,
        ...event,
        createdAt: new Date(createdAt).toISOString(),
        data: JSON.parse(data) as unknown,
      }));
    },
  };
}
