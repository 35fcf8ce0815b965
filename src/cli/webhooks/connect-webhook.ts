/** Makes sure that one registration delivers to a bridge, and that its secret is stored on this machine. */
import { type EnsuredWebhook, ensureWebhook, readSecrets } from '../../bridge/index.js';
import type { Webhook } from '../../contract/records/sandbox-records.js';
import { keepConnection, readConnection } from '../../supervisor/webhook-record.js';
import type { ServiceAtHand } from '../connect/with-service.js';

export interface ConnectedWebhook {
  readonly webhookId: string;
  /** `moved`: the registration delivered to another URL before. */
  readonly action: EnsuredWebhook['action'] | 'moved';
  /** Other registrations with the same name, which deliver elsewhere. */
  readonly others: readonly Webhook[];
}

interface ConnectWebhookOptions {
  /** Public URL of the bridge, with its path. */
  readonly url: string;
  /** Default: `sandflow` and the deployment. */
  readonly name?: string;
  /** Replaces the secret even if it is stored on this machine. */
  readonly rotate?: boolean;
}

/**
 * Creates the registration, adopts an existing one, or changes the URL of the one of this home. Replaces the secret if
 * the secret file may not contain the right one. Safe to repeat.
 * @throws as `ensureWebhook`
 */
export async function connectWebhook(
  { service, reads, config }: ServiceAtHand,
  { url, name = `sandflow ${config.deployment}`, rotate = false }: ConnectWebhookOptions,
): Promise<ConnectedWebhook> {
  const { webhookSecretFile: secretFile, webhookSecrets: currentSecrets, sandboxService } = config;
  const apiUrl = sandboxService?.apiUrl ?? '';
  const { webhooks } = await reads.listWebhooks();
  const kept = await readConnection(config);
  const own = kept?.apiUrl === apiUrl ? webhooks.find(({ id }) => id === kept.webhookId) : undefined;
  const there = webhooks.find((webhook) => isSameUrl(webhook.url, url));
  const moves = there === undefined && own !== undefined;
  if (moves) await service.updateWebhook(own.id, { url });

  const target = there ?? own;
  const isAtHand =
    currentSecrets.length > 0 || (target?.id === kept?.webhookId && (await readSecrets(secretFile)).length > 0);
  const wanted = { url, name, secretFile, currentSecrets, rotate: target !== undefined && (rotate || !isAtHand) };
  const { webhookId, action } = await ensureWebhook({ ...service, ...reads }, wanted);
  await keepConnection(config, { apiUrl, webhookId });
  const others = webhooks.filter((one) => one.name === name && one.id !== webhookId);
  return { webhookId, action: moves && action !== 'rotated' ? 'moved' : action, others };
}

function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === new URL(other).href;
}
