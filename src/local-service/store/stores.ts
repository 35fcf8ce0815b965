import type { Clock } from '../clock.js';
import { type AccountStore, createAccountStore } from './account-store.js';
import { type CredentialStore, createCredentialStore } from './credential-store.js';
import type { Database } from './database.js';
import { createDeletionStore, type DeletionStore } from './deletion-store.js';
import { createDeliveryStore, type DeliveryStore } from './delivery-store.js';
import { createEnvironmentStore, type EnvironmentStore } from './environment-store.js';
import { createHistoryStore, type HistoryStore } from './history-store.js';
import { createIdempotencyStore, type IdempotencyStore } from './idempotency-store.js';
import { createKeyUsageStore, type KeyUsageStore } from './key-usage-store.js';
import { createPromptStore, type PromptStore } from './prompt-store.js';
import { createSampleStore, type SampleStore } from './sample-store.js';
import { createSandboxStore, type SandboxStore } from './sandbox-store.js';
import { createSecretStore, type SecretStore } from './secret-store.js';
import { createSettingStore, type SettingStore } from './setting-store.js';
import { createSnapshotStore, type SnapshotStore } from './snapshot-store.js';
import { createStopStore, type StopStore } from './stop-store.js';
import { createWebhookStore, type WebhookStore } from './webhook-store.js';
import { createWorkStore, type WorkStore } from './work-store.js';

export interface Stores {
  readonly sandboxes: SandboxStore;
  readonly stops: StopStore;
  readonly prompts: PromptStore;
  readonly history: HistoryStore;
  readonly samples: SampleStore;
  readonly snapshots: SnapshotStore;
  readonly deletions: DeletionStore;
  readonly idempotency: IdempotencyStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly work: WorkStore;
  readonly settings: SettingStore;
  readonly accounts: AccountStore;
  readonly credentials: CredentialStore;
  readonly keyUsage: KeyUsageStore;
  readonly environments: EnvironmentStore;
  readonly secrets: SecretStore;
}

export function createStores(database: Database, clock: Clock): Stores {
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
