import type { Clock } from '../clock.js';
import { createAccountStore } from './account-store.js';
import { createCredentialStore } from './credential-store.js';
import type { Database } from './database.js';
import { createDeliveryStore } from './delivery-store.js';
import { createEnvironmentStore, createSecretStore } from './environment-store.js';
import { createHistoryStore } from './history-store.js';
import { createIdempotencyStore } from './idempotency-store.js';
import { createKeyUsageStore } from './key-usage-store.js';
import { createPromptStore } from './prompt-store.js';
import { createSampleStore } from './sample-store.js';
import { createDeletionStore, createSandboxStore, createStopStore } from './sandbox-store.js';
import { createSnapshotStore } from './snapshot-store.js';
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

/** Single values that outlive the process, such as the state of the clock. */
export function createSettingStore(database: Database) {
  const get = database.prepare<{ document: string }>('SELECT document FROM settings WHERE name = ?');
  const put = database.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?)');
  return {
    get<Value>(name: string) {
      const row = get.get(name);
      return row && (JSON.parse(row.document) as Value);
    },
    put: (name: string, value: unknown) => void put.run(name, JSON.stringify(value)),
  };
}
