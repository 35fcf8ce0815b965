import type { Clock } from '../clock.js';
import { createAccountStore } from './account-store.js';
import { createCredentialStore } from './credential-store.js';
import type { Database } from './database.js';
import { createDeletionStore } from './deletion-store.js';
import { createDeliveryStore } from './delivery-store.js';
import { createEnvironmentStore } from './environment-store.js';
import { createHistoryStore } from './history-store.js';
import { createIdempotencyStore } from './idempotency-store.js';
import { createKeyUsageStore } from './key-usage-store.js';
import { createPromptStore } from './prompt-store.js';
import { createSampleStore } from './sample-store.js';
import { createSandboxStore } from './sandbox-store.js';
import { createSecretStore } from './secret-store.js';
import { createSettingStore } from './setting-store.js';
import { createSnapshotStore } from './snapshot-store.js';
import { createStopStore } from './stop-store.js';
import { createWebhookStore } from './webhook-store.js';
import { createWorkStore } from './work-store.js';

export type Stores = ReturnType<typeof createStores>;

export function createStores(database: Database, clock: Clock) {
  return {
    sandboxes: createSandboxStore(database),
    stops: createStopStore(database),
    prompts: createPromptStore(database),
    history: createHistoryStore(database, clock),
    samples: createSampleStore(database),
    snapshots: createSnapshotStore(database),
    deletions: createDeletionStore(database),
    idempotency: createIdempotencyStore(database),
    webhooks: createWebhookStore(database),
    deliveries: createDeliveryStore(database, clock),
    work: createWorkStore(database),
    settings: createSettingStore(database),
    accounts: createAccountStore(database),
    credentials: createCredentialStore(database),
    keyUsage: createKeyUsageStore(database, clock),
    environments: createEnvironmentStore(database),
    secrets: createSecretStore(database),
  };
}
