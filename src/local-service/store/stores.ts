import type { Clock } from '../clock.js';
import type { Database } from './database.js';
import { createDeletionStore, type DeletionStore } from './deletion-store.js';
import { createDeliveryStore, type DeliveryStore } from './delivery-store.js';
import { createHistoryStore, type HistoryStore } from './history-store.js';
import { createIdempotencyStore, type IdempotencyStore } from './idempotency-store.js';
import { createPromptStore, type PromptStore } from './prompt-store.js';
import { createSandboxStore, type SandboxStore } from './sandbox-store.js';
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
  readonly snapshots: SnapshotStore;
  readonly deletions: DeletionStore;
  readonly idempotency: IdempotencyStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly work: WorkStore;
  readonly settings: SettingStore;
}

export function createStores(database: Database, clock: Clock): Stores {
  return {
    sandboxes: createSandboxStore(database),
    stops: createStopStore(database),
    prompts: createPromptStore(database),
    history: createHistoryStore(database, clock),
    snapshots: createSnapshotStore(database),
    deletions: createDeletionStore(database),
    idempotency: createIdempotencyStore(database),
    webhooks: createWebhookStore(database),
    deliveries: createDeliveryStore(database, clock),
    work: createWorkStore(database),
    settings: createSettingStore(database),
  };
}
