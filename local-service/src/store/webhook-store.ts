/** Registered webhooks with their secrets. */
import type { Database } from './database.js';

interface WebhookRow {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly events: string;
  readonly secret: string;
  readonly createdAt: string;
  /** The account whose events it receives. */
  readonly accountId: string;
  /** 1: it was created through the legacy surface. */
  readonly legacy: number;
}

export interface WebhookRecord extends Omit<WebhookRow, 'events' | 'legacy'> {
  /** Names of the current vocabulary, whichever vocabulary the webhook delivers. */
  readonly events: readonly string[];
  /** True if it was created through the legacy surface: it then delivers `box.*`. */
  readonly legacy: boolean;
}

export function createWebhookStore(database: Database) {
  let webhooks: readonly WebhookRecord[] = [];
  const put = database.prepare(
    `INSERT INTO webhooks (id, name, url, events, secret, createdAt, accountId, legacy) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, url = excluded.url, events = excluded.events,
       secret = excluded.secret`,
  );
  const remove = database.prepare('DELETE FROM webhooks WHERE id = ?');
  const dropQueue = database.prepare("DELETE FROM deliveries WHERE webhookId = ? AND status = 'queued'");
  const load = database.prepare<WebhookRow>(
    'SELECT id, name, url, events, secret, createdAt, accountId, legacy FROM webhooks ORDER BY seq',
  );

  function set(next: readonly WebhookRecord[]): void {
    const before = webhooks;
    webhooks = next;
    database.onRollback(() => {
      webhooks = before;
    });
  }

  return {
    get: (webhookId: string) => webhooks.find((webhook) => webhook.id === webhookId),
    all: () => webhooks,
    /** The webhooks of an account, oldest first. */
    of: (accountId: string) => webhooks.filter((webhook) => webhook.accountId === accountId),
    put(webhook: WebhookRecord) {
      const { id, name, url, events, secret, createdAt, accountId, legacy } = webhook;
      put.run(id, name, url, JSON.stringify(events), secret, createdAt, accountId, legacy ? 1 : 0);
      const known = webhooks.some((other) => other.id === id);
      set(known ? webhooks.map((other) => (other.id === id ? webhook : other)) : [...webhooks, webhook]);
    },
    /** Removes the webhook and the deliveries that are queued for it. */
    remove(webhookId: string) {
      remove.run(webhookId);
      dropQueue.run(webhookId);
      set(webhooks.filter((webhook) => webhook.id !== webhookId));
    },
    load() {
      webhooks = load.all().map((row) => ({
        ...row,
        events: JSON.parse(row.events) as string[],
        legacy: row.legacy === 1,
      }));
    },
  };
}
