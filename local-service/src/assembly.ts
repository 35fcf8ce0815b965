/** Creates the parts of the service and connects them. Starts nothing. */
import { setMaxListeners } from 'node:events';
import { ownHeaderPrefix } from '../../src/contract/request-form.js';
import { type SeedAccounts, seedAccounts } from './accounts/seed.js';
import { createScheduler } from './background/scheduler.js';
import type { BackgroundWork } from './background/start-stop.js';
import type { Core } from './core/context.js';
import { createSandboxLocks } from './core/locks.js';
import { machineEnvironment } from './environments/on-machine.js';
import { createFaults } from './faults/faults.js';
import { createStartWatch } from './machine/start-watch.js';
import { createProcessSampler } from './processes/sampler.js';
import { createPromptRunner } from './prompts/runner.js';
import { createSandboxCredentials } from './sandboxes/credential.js';
import type { SshServer, SshServerOptions } from './ssh/ssh-server.js';
import { createStores } from './store/stores.js';
import { createDeliverer } from './webhooks/deliverer.js';
import { createEventPublisher } from './webhooks/event-publisher.js';
import type { ResolveHost } from './webhooks/public-address.js';
import { createDeliverySender, type DeliverySender } from './webhooks/send-attempt.js';

export type Given = {
  readonly createSsh: (options: Pick<SshServerOptions, 'machines' | 'environmentOf'>) => SshServer;
} & Pick<
  Core,
  | 'database'
  | 'clock'
  | 'host'
  | 'timings'
  | 'limits'
  | 'deviations'
  | 'log'
  | 'agentOf'
  | 'models'
  | 'defaultProvider'
  | 'repos'
  | 'logins'
  | 'servicePort'
>;

interface AssembleOptions {
  /** The accounts that exist from the start, and that a reset creates again. */
  readonly seed: SeedAccounts;
  /** Base URL with the version; undefined while the service does not listen. */
  readonly apiUrl: () => string | undefined;
  readonly strictWebhookUrls: boolean;
  readonly resolveHost: ResolveHost;
}

export interface Assembly extends BackgroundWork {
  readonly sender: DeliverySender;
  readonly closing: AbortController;
  /** Reads the database into memory, and creates the accounts of `seed` that are missing. */
  load(): void;
}

export function assemble({ createSsh, ...given }: Given, options: AssembleOptions): Assembly {
  const { seed, apiUrl, strictWebhookUrls: strictUrls, resolveHost } = options;
  const { database, clock, timings, log, deviations } = given;
  const stores = createStores(database, clock);
  const faults = createFaults(database);
  const closing = new AbortController();
  // Each delayed call listens to this signal, so the number of listeners has no limit.
  setMaxListeners(0, closing.signal);
  const sender = createDeliverySender({
    timeoutMs: timings.webhookTimeoutMs,
    strictUrls,
    resolveHost,
    headerPrefix: deviations.has('A-header-family') ? 'x-box-' : ownHeaderPrefix,
  });
  const retryMs = timings.webhookRetryMs * (deviations.has('A-webhook-retry') ? 10 : 1);
  const deliverer = createDeliverer({ database, stores, sender, retryMs, clock, log });
  const scheduler = createScheduler({ database, store: stores.work, clock, log });
  const watch = createStartWatch(given.host);
  const sandboxCredentials = createSandboxCredentials({ database, stores, clock, apiUrl });
  const environmentOf = (sandboxId: string) => {
    const sandbox = stores.sandboxes.get(sandboxId);
    return sandbox && machineEnvironment({ ...given, stores, sandboxCredentials }, sandbox);
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
