/** Puts the domain together: stores, queues and what they call. Starts nothing. */
import { setMaxListeners } from 'node:events';
import { createDeliverer, type Deliverer } from '../deliveries/deliverer.js';
import type { ResolveHost } from '../deliveries/public-lookup.js';
import { createDeliverySender, type DeliverySender } from '../deliveries/send-attempt.js';
import { createFaults } from '../faults/faults.js';
import { createStartWatch } from '../machine/start-watch.js';
import type { SshServer, SshServerOptions } from '../ssh/index.js';
import { createStores } from '../store/stores.js';
import type { Context, Core } from './context.js';
import { createEventPublisher } from './event-publisher.js';
import { machineEnvironment } from './machine-environment.js';
import { createProcessSampler, type ProcessSampler } from './process-sampler.js';
import { createPromptRunner } from './prompt-runner.js';
import { createSandboxCredentials } from './sandbox-credential.js';
import { createSandboxLocks } from './sandbox-locks.js';
import { createScheduler, type Scheduler } from './scheduler.js';
import { type SeedAccounts, seedAccounts } from './seed-accounts.js';

export type Given = {
  readonly createSsh: (options: Pick<SshServerOptions, 'machines' | 'environmentOf'>) => SshServer;
} & Pick<
  Core,
  'database' | 'clock' | 'host' | 'timings' | 'limits' | 'profile' | 'log' | 'agentOf' | 'defaultProvider' | 'repos'
>;

export interface AssembleOptions {
  /** The accounts that are there from the start, and again after a reset. */
  readonly seed: SeedAccounts;
  /** Base URL with the version; undefined while the service does not listen. */
  readonly apiUrl: () => string | undefined;
  readonly strictWebhookUrls: boolean;
  readonly resolveHost: ResolveHost;
}

export interface Assembly {
  readonly context: Context;
  readonly scheduler: Scheduler;
  readonly sampler: ProcessSampler;
  readonly deliverer: Deliverer;
  readonly sender: DeliverySender;
  readonly closing: AbortController;
  /** Reads into memory what the database holds, and makes the accounts that are not there. */
  load(): void;
}

export function assemble({ createSsh, ...given }: Given, options: AssembleOptions): Assembly {
  const { seed, apiUrl, strictWebhookUrls: strictUrls, resolveHost } = options;
  const { database, clock, timings, log } = given;
  const stores = createStores(database, clock);
  const faults = createFaults(database);
  const closing = new AbortController();
  // Each call that is held listens to it, however many there are.
  setMaxListeners(0, closing.signal);
  const sender = createDeliverySender({ timeoutMs: timings.webhookTimeoutMs, strictUrls, resolveHost });
  const deliverer = createDeliverer({ database, stores, sender, retryMs: timings.webhookRetryMs, clock, log });
  const scheduler = createScheduler({ database, store: stores.work, clock, log });
  const watch = createStartWatch(given.host);
  const sandboxCredentials = createSandboxCredentials({ database, stores, clock, apiUrl });
  const environmentOf = (sandboxId: string) => {
    const sandbox = stores.sandboxes.get(sandboxId);
    return sandbox && machineEnvironment({ stores, sandboxCredentials }, sandbox);
  };
  const core: Core = {
    ...given,
    stores,
    faults,
    closing: closing.signal,
    host: watch.host,
    ssh: createSsh({ machines: watch.host, environmentOf }),
    locks: createSandboxLocks(),
    sshLocks: createSandboxLocks(),
    sandboxCredentials,
    publish: createEventPublisher({ database, stores, faults, clock, onQueued: deliverer.wake }),
    schedule: scheduler.schedule,
  };
  return {
    context: { ...core, prompts: createPromptRunner(core) },
    scheduler,
    sampler: createProcessSampler(core, watch),
    deliverer,
    sender,
    closing,
    load() {
      stores.sandboxes.load();
      stores.webhooks.load();
      faults.load();
      stores.accounts.load();
      stores.credentials.load();
      stores.keyUsage.load();
      seedAccounts(core, seed);
    },
  };
}
