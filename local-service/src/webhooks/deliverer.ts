/**
 * Empties the delivery queue (specification, "Delivery semantics"). Each webhook has its own queue, so that a slow
 * endpoint does not delay other webhooks. A lane sends several events at a time.
 *
 *     queued ──2xx──► delivered
 *     queued ──anything else──► queued again, due after 1, 2, 4 … times `webhookRetryMs` of timings.ts
 *     queued ──8th failure──► exhausted
 */
import type { Clock } from '../clock.js';
import { type Log, reasonOf } from '../log.js';
import type { Database } from '../store/database.js';
import type { QueuedDelivery } from '../store/delivery-store.js';
import type { Stores } from '../store/stores.js';
import type { DeliverySender } from './send-attempt.js';

const maxAttempts = 8;
const atOncePerWebhook = 16;

interface Lane {
  readonly inFlight: Map<number, Promise<void>>;
  cancelTimer?: () => void;
  woken: boolean;
}

export type Deliverer = ReturnType<typeof createDeliverer>;

export function createDeliverer(options: {
  readonly database: Database;
  readonly stores: Pick<Stores, 'webhooks' | 'deliveries'>;
  readonly sender: DeliverySender;
  /** Delay after the first failure; each further delay is twice the one before. */
  readonly retryMs: number;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { database, stores, sender, retryMs, clock, log } = options;
  const lanes = new Map<string, Lane>();
  /** Distinguishes attempts of this start from earlier ones; undefined while stopped. */
  let era: object | undefined;

  function laneOf(webhookId: string): Lane {
    let lane = lanes.get(webhookId);
    if (!lane) {
      lane = { inFlight: new Map(), woken: false };
      lanes.set(webhookId, lane);
    }
    return lane;
  }

  function wake(webhookId: string): void {
    const lane = laneOf(webhookId);
    if (!era || lane.woken) return;
    lane.woken = true;
    // One pass finds all events that were queued in one turn of the event loop.
    setImmediate(() => {
      lane.woken = false;
      pass(webhookId, lane);
    });
  }

  function pass(webhookId: string, lane: Lane): void {
    lane.cancelTimer?.();
    if (!era) return;
    if (!stores.webhooks.get(webhookId)) {
      if (lane.inFlight.size === 0) lanes.delete(webhookId);
      return;
    }
    if (lane.inFlight.size >= atOncePerWebhook) return;
    const now = clock.now();
    for (const delivery of stores.deliveries.next(webhookId, atOncePerWebhook + lane.inFlight.size + 1)) {
      if (lane.inFlight.has(delivery.seq)) continue;
      if (delivery.dueAt > now) {
        lane.cancelTimer = clock.at(delivery.dueAt, () => wake(webhookId));
        return;
      }
      if (lane.inFlight.size >= atOncePerWebhook) return;
      const attempt = attemptOnce(delivery, era)
        .catch((cause: unknown) => log('a delivery could not be recorded', { reason: reasonOf(cause) }))
        .finally(() => {
          lane.inFlight.delete(delivery.seq);
          wake(webhookId);
        });
      lane.inFlight.set(delivery.seq, attempt);
    }
  }

  async function attemptOnce(delivery: QueuedDelivery, begunIn: object): Promise<void> {
    const webhook = stores.webhooks.get(delivery.webhookId);
    if (!webhook) return;
    const sentAt = clock.now();
    const { status, error } = await sender.send(webhook, delivery);
    if (begunIn !== era) return;
    const { seq, eventId, type, webhookId, sandboxId, fault } = delivery;
    const attempt = delivery.attempts + 1;
    database.transaction(() => {
      stores.deliveries.recordAttempt({ eventId, type, webhookId, sandboxId, attempt, sentAt, status, error, fault });
      if (status !== null && status >= 200 && status < 300) stores.deliveries.end(seq, attempt, 'delivered');
      else if (attempt >= maxAttempts) stores.deliveries.end(seq, attempt, 'exhausted');
      else stores.deliveries.retry(seq, attempt, clock.now() + retryMs * 2 ** (attempt - 1));
    });
  }

  const busy = (): boolean => [...lanes.values()].some(({ woken, inFlight }) => woken || inFlight.size > 0);

  return {
    /** Checks the queue of a webhook now. */
    wake,
    start() {
      era = {};
      for (const { id } of stores.webhooks.all()) wake(id);
    },
    /** True while an attempt is in flight or about to be. */
    busy,
    /** Waits until no attempt is in flight or about to be. */
    async idle() {
      while (busy()) {
        await Promise.all([...lanes.values()].flatMap(({ inFlight }) => [...inFlight.values()]));
        await new Promise(setImmediate);
      }
    },
    /** Sends nothing more. Attempts that are under way are aborted, and the next start repeats them. */
    async stop() {
      era = undefined;
      sender.abortAll();
      const attempts = [...lanes.values()].flatMap(({ cancelTimer, inFlight }) => {
        cancelTimer?.();
        return [...inFlight.values()];
      });
      lanes.clear();
      await Promise.all(attempts);
    },
  };
}
