/** The queue of webhook deliveries, in the database so that it survives the process. */
import type { Clock } from '../clock.js';
import type { Database } from './database.js';

export interface QueuedDelivery {
  readonly seq: number;
  readonly eventId: string;
  readonly webhookId: string;
  readonly attempts: number;
  readonly dueAt: number;
  readonly fault: string | null;
  readonly type: string;
  readonly sandboxId: string;
  /** The exact bytes that are signed and sent. */
  readonly body: string;
}

export interface DeliveryAttempt {
  readonly eventId: string;
  readonly type: string;
  readonly webhookId: string;
  readonly sandboxId: string;
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly fault: string | null;
}

export const heldForReorder = 'webhook_reorder';

export function createDeliveryStore(database: Database, clock: Clock) {
  const addEvent = database.prepare('INSERT INTO webhook_events VALUES (?, ?, ?, ?, ?)');
  const enqueue = database.prepare(
    "INSERT INTO deliveries (eventId, webhookId, status, dueAt, fault) VALUES (?, ?, 'queued', ?, ?)",
  );
  const addLost = database.prepare(
    "INSERT INTO deliveries (eventId, webhookId, status, dueAt, endedAt, fault) VALUES (?, ?, 'delivered', ?, ?, ?)",
  );
  const releaseHeld = database.prepare(
    `UPDATE deliveries SET dueAt = min(dueAt, ?) WHERE webhookId = ? AND status = 'queued'
     AND fault = '${heldForReorder}' AND attempts = 0`,
  );
  const next = database.prepare<QueuedDelivery>(
    `SELECT d.seq, d.eventId, d.webhookId, d.attempts, d.dueAt, d.fault, e.type, e.sandboxId, e.body
     FROM deliveries d JOIN webhook_events e ON e.id = d.eventId
     WHERE d.webhookId = ? AND d.status = 'queued' ORDER BY d.dueAt, d.seq LIMIT ?`,
  );
  const record = database.prepare(
    `INSERT INTO delivery_attempts (eventId, type, webhookId, sandboxId, attempt, sentAt, status, error, fault)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const retry = database.prepare('UPDATE deliveries SET attempts = ?, dueAt = ? WHERE seq = ?');
  const end = database.prepare('UPDATE deliveries SET attempts = ?, status = ?, endedAt = ? WHERE seq = ?');
  const columns = 'eventId, type, webhookId, sandboxId, attempt, sentAt, status, error, fault';
  const all = database.prepare<DeliveryAttempt>(`SELECT ${columns} FROM delivery_attempts ORDER BY seq`);
  const of = database.prepare<DeliveryAttempt>(
    `SELECT ${columns} FROM delivery_attempts WHERE sandboxId = ? ORDER BY seq`,
  );
  const queued = database.prepare<{ count: number }>(
    "SELECT count(*) AS count FROM deliveries WHERE status = 'queued'",
  );
  const removeDeliveries = database.prepare('DELETE FROM deliveries WHERE endedAt < ?');
  const removeAttempts = database.prepare('DELETE FROM delivery_attempts WHERE sentAt < ?');
  const removeEvents = database.prepare(
    'DELETE FROM webhook_events WHERE createdAt < ? AND id NOT IN (SELECT eventId FROM deliveries)',
  );

  return {
    addEvent: ({
      id,
      type,
      sandboxId,
      body,
      createdAt,
    }: {
      id: string;
      type: string;
      sandboxId: string;
      body: string;
      createdAt: number;
    }) => void addEvent.run(id, type, sandboxId, body, createdAt),
    enqueue: (eventId: string, webhookId: string, dueAt: number, fault: string | null) =>
      void enqueue.run(eventId, webhookId, dueAt, fault),
    /** Records a delivery that is never sent, so that its receiver loses the event. */
    addLost: (eventId: string, webhookId: string, fault: string) =>
      void addLost.run(eventId, webhookId, clock.now(), clock.now(), fault),
    /** Deliveries that a reordering fault holds back become due at `dueAt` at the latest. */
    releaseHeld: (webhookId: string, dueAt: number) => void releaseHeld.run(dueAt, webhookId),
    /** The earliest queued deliveries of a webhook, due or not. */
    next: (webhookId: string, limit: number) => next.all(webhookId, limit),
    recordAttempt({ eventId, type, webhookId, sandboxId, attempt, sentAt, status, error, fault }: DeliveryAttempt) {
      record.run(eventId, type, webhookId, sandboxId, attempt, sentAt, status, error, fault);
    },
    retry: (seq: number, attempts: number, dueAt: number) => void retry.run(attempts, dueAt, seq),
    end: (seq: number, attempts: number, status: 'delivered' | 'exhausted') =>
      void end.run(attempts, status, clock.now(), seq),
    attempts: (sandboxId?: string) => (sandboxId === undefined ? all.all() : of.all(sandboxId)),
    queuedCount: () => queued.get()?.count ?? 0,
    removeEndedBefore(ms: number) {
      removeDeliveries.run(ms);
      removeAttempts.run(ms);
      removeEvents.run(ms);
    },
  };
}
