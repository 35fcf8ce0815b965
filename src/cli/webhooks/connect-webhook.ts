/** Makes sure that one registration delivers to a bridge, and that its secret is stored on this machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type EnsuredWebhook, ensureWebhook, readSecrets } from '../../bridge/index.js';
import type { Config } from '../../config.js';
import type { Webhook } from '../../contract/records/sandbox-records.js';
import type { StackDescription } from '../../supervisor/control-protocol.js';
import { keepConnection, readConnection } from '../../supervisor/webhook-record.js';
import type { ServiceAtHand } from '../connect/with-service.js';
import { sendTestDelivery, type TestDelivery } from './test-delivery.js';

export interface ConnectedWebhook {
  readonly webhookId: string;
  /** `moved`: the registration delivered to another URL before. */
  readonly action: EnsuredWebhook['action'] | 'moved';
  /** Where the registration delivers: its earlier URL if no bridge accepted a delivery at the wanted one. */
  readonly url: string;
  /** The test delivery to the wanted URL; null if none was to be sent. */
  readonly check: TestDelivery | null;
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
  /** False: sends no test delivery, moves nothing, and replaces no secret without `rotate`. Default: true. */
  readonly test?: boolean;
  /** The embedded stack of this home, if one runs. Its bridge starts when there is a secret. */
  readonly stack: StackDescription | undefined;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
}

/** When the secret exists, a stack starts its bridge within seconds. */
const bridgeStartsWithinMs = 15_000;
const pauseMs = 500;

/**
 * Creates the registration, adopts an existing one, or moves the one of this home to the URL. Replaces the secret if the
 * secret file may not contain the right one. A registration moves last, once a bridge has accepted a test delivery at
 * the URL. Until then its events go where they went before. Safe to repeat. Without a test delivery nothing shows that a
 * bridge has the secret or can be reached, so nothing is replaced or moved.
 * @throws as `ensureWebhook`
 */
export async function connectWebhook(
  { service, reads, config }: ServiceAtHand,
  { url, name = `sandflow ${config.deployment}`, rotate = false, test = true, stack, signal }: ConnectWebhookOptions,
): Promise<ConnectedWebhook> {
  const { webhookSecretFile: secretFile, webhookSecrets: currentSecrets, sandboxService } = config;
  const apiUrl = sandboxService?.apiUrl ?? '';
  const { webhooks } = await reads.listWebhooks();
  const kept = await readConnection(config);
  const own = kept?.apiUrl === apiUrl ? webhooks.find(({ id }) => id === kept.webhookId) : undefined;
  const there = webhooks.find((webhook) => isSameUrl(webhook.url, url));
  const moving = test && there === undefined && own !== undefined && URL.canParse(own.url) ? own : undefined;

  const target = there ?? moving;
  const isAtHand =
    currentSecrets.length > 0 || (target?.id === kept?.webhookId && (await readSecrets(secretFile)).length > 0);
  const replaces = target !== undefined && (rotate || (test && !isAtHand));
  const othersThan = (id: string) => webhooks.filter((one) => one.name === name && one.id !== id);
  // A replaced secret cannot be put back, and the bridge at the earlier URL may have no other one.
  if (moving && replaces && !waitsForSecret(stack)) {
    const check = await testOnce(config, url);
    if (check.result === 'no_bridge') {
      const { id: webhookId, url: earlier } = moving;
      return { webhookId, action: 'adopted', url: earlier, check, others: othersThan(webhookId) };
    }
  }
  const wanted = { url: moving?.url ?? url, name, secretFile, currentSecrets, rotate: replaces };
  const { webhookId, action } = await ensureWebhook({ ...service, ...reads }, wanted);
  // Without a test, nobody knows whether the stored secret is that of an adopted registration.
  if (test || action === 'created' || action === 'rotated') await keepConnection(config, { apiUrl, webhookId });
  const check = test ? await untilAccepted(() => testOnce(config, url), { stack, signal }) : null;
  const isMoved = moving !== undefined && check?.result === 'accepted';
  if (isMoved) await service.updateWebhook(moving.id, { url });
  return {
    webhookId,
    action: isMoved && action !== 'rotated' ? 'moved' : action,
    url: moving && !isMoved ? moving.url : url,
    check,
    others: othersThan(webhookId),
  };
}

/** The bridge of such a stack does not answer before its secret is stored. */
const waitsForSecret = (stack: StackDescription | undefined) =>
  stack?.bridgeAddress !== undefined && stack.bridgeUrl === undefined;

async function testOnce({ webhookSecretFile, webhookSecrets }: Config, url: string): Promise<TestDelivery> {
  const [secret = ''] = [...(await readSecrets(webhookSecretFile)), ...webhookSecrets];
  return sendTestDelivery(url, secret);
}

async function untilAccepted(
  test: () => Promise<TestDelivery>,
  { stack, signal }: Pick<ConnectWebhookOptions, 'stack' | 'signal'>,
): Promise<TestDelivery> {
  const giveUpAt = Date.now() + (stack?.bridgeAddress === undefined ? 0 : bridgeStartsWithinMs);
  for (;;) {
    const check = await test();
    if (check.result === 'accepted' || Date.now() >= giveUpAt) return check;
    await sleep(pauseMs, undefined, { signal });
  }
}

function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === new URL(other).href;
}
