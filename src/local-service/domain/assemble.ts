/** Puts the domain together: stores, queues and what they call. Starts nothing. */
import { createDeliverer, type Deliverer } from '../deliveries/deliverer.js';
import { createDeliverySender, type DeliverySender } from '../deliveries/send-attempt.js';
import { createFaults } from '../faults/faults.js';
import { createStores } from '../store/stores.js';
import type { Context, Core } from './context.js';
import { createEventPublisher } from './event-publisher.js';
import { createPromptRunner } from './prompt-runner.js';
import { createSandboxLocks } from './sandbox-locks.js';
import { createScheduler, type Scheduler } from './scheduler.js';

export type Given = Pick<
  Core,
  'database' | 'clock' | 'host' | 'timings' | 'limits' | 'profile' | 'log' | 'agentOf' | 'defaultProvider'
>;

export interface Assembly {
  readonly context: Context;
  readonly scheduler: Scheduler;
  readonly deliverer: Deliverer;
  readonly sender: DeliverySender;
  readonly closing: AbortController;
  /** Reads into memory what the database holds. */
  load(): void;
}

export function assemble(given: Given): Assembly {
  const { database, clock, timings, log } = given;
  const stores = createStores(database, clock);
  const faults = createFaults(database);
  const closing = new AbortController();
  const sender = createDeliverySender({ timeoutMs: timings.webhookTimeoutMs });
  const deliverer = createDeliverer({ database, stores, sender, retryMs: timings.webhookRetryMs, clock, log });
  const scheduler = createScheduler({ database, store: stores.work, clock, log });
  const core: Core = {
    ...given,
    stores,
    faults,
    closing: closing.signal,
    locks: createSandboxLocks(),
    publish: createEventPublisher({ database, stores, faults, clock, onQueued: deliverer.wake }),
    schedule: scheduler.schedule,
  };
  return {
    context: { ...core, prompts: createPromptRunner(core) },
    scheduler,
    deliverer,
    sender,
    closing,
    load() {
      stores.sandboxes.load();
      stores.webhooks.load();
      faults.load();
    },
  };
}
