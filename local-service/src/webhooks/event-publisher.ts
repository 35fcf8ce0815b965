/** Lifecycle events, written in the transaction of the state change that they report (specification, "Events"). */
import type { Clock } from '../clock.js';
import type { EventPublisher } from '../core/context.js';
import { newWebhookEventId } from '../core/ids.js';
import type { Faults } from '../faults/faults.js';
import type { Database } from '../store/database.js';
import { heldForReorder } from '../store/delivery-store.js';
import type { Stores } from '../store/stores.js';

/** The delay from the next event until an event that was held back for reordering is sent, in ms. */
const reorderGapMs = 100;

interface EventPublisherOptions {
  readonly database: Database;
  readonly stores: Pick<Stores, 'webhooks' | 'deliveries'>;
  readonly faults: Faults;
  readonly clock: Clock;
  /** Called once the event is committed. */
  readonly onQueued: (webhookId: string) => void;
}

export function createEventPublisher({
  database,
  stores,
  faults,
  clock,
  onQueued,
}: EventPublisherOptions): EventPublisher {
  return (type, sandbox, previousState) => {
    const subscribed = stores.webhooks.of(sandbox.ownerId).filter((webhook) => webhook.events.includes(type));
    if (subscribed.length === 0) return;
    const id = newWebhookEventId();
    const now = clock.now();
    const states = previousState === undefined ? {} : { previousState, state: sandbox.state };
    const data = { sandbox: { id: sandbox.id, name: sandbox.name }, ...states };
    const body = JSON.stringify({ id, type, createdAt: new Date(now).toISOString(), data });
    stores.deliveries.addEvent({ id, type, sandboxId: sandbox.id, body, createdAt: now });
    for (const webhook of subscribed) {
      database.afterCommit(() => onQueued(webhook.id));
      stores.deliveries.releaseHeld(webhook.id, now + reorderGapMs);
      const fault = faults.takeForDelivery(type, webhook.id);
      switch (fault?.kind) {
        case 'webhook_drop':
          stores.deliveries.addLost(id, webhook.id, fault.kind);
          stores.deliveries.recordAttempt({
            eventId: id,
            type,
            webhookId: webhook.id,
            sandboxId: sandbox.id,
            attempt: 1,
            sentAt: now,
            status: null,
            error: null,
            fault: fault.kind,
          });
          continue;
        case 'webhook_double':
          stores.deliveries.enqueue(id, webhook.id, now, null);
          stores.deliveries.enqueue(id, webhook.id, now, fault.kind);
          break;
        case 'webhook_delay':
          stores.deliveries.enqueue(id, webhook.id, now + fault.ms, fault.kind);
          break;
        case 'webhook_reorder':
          stores.deliveries.enqueue(id, webhook.id, now + fault.ms, heldForReorder);
          break;
        default:
          stores.deliveries.enqueue(id, webhook.id, now, null);
      }
    }
  };
}
