/** Sends the webhooks of the bench's service, signed, and again after a failure. */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { deliveryHeadersFor } from '../../../src/webhook/index.js';
import type { Announce } from './sandboxes.js';

export interface Webhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly createdAt: string;
  readonly secret: string;
}

export type WebhookFault = 'none' | 'lost' | 'doubled';

/** The times of sending, in ms since the epoch, by sandbox. Only first attempts count. */
export interface SentTimes {
  readonly ready: Map<string, number>;
  readonly archived: Map<string, number>;
}

const attempts = 8;
const firstPauseMs = 1_000;
const answerTimeoutMs = 5_000;

export function createDeliveries() {
  const webhooks = new Map<string, Webhook>();
  const sent: SentTimes = { ready: new Map(), archived: new Map() };
  const agent = new Agent({ connections: 128, headersTimeout: answerTimeoutMs, bodyTimeout: answerTimeoutMs });
  let fault: WebhookFault = 'none';

  async function deliver(webhook: Webhook, event: string, rawBody: string, attempt: number): Promise<void> {
    if (!webhooks.has(webhook.id)) return;
    const timestamp = Math.floor(Date.now() / 1_000);
    const deliveryId = (JSON.parse(rawBody) as { readonly id: string }).id;
    const headers = deliveryHeadersFor({ secret: webhook.secret, deliveryId, timestamp, rawBody, event, attempt });
    const isDelivered = await request(webhook.url, { method: 'POST', headers, body: rawBody, dispatcher: agent })
      .then(async ({ statusCode, body }) => {
        await body.dump();
        return statusCode >= 200 && statusCode < 300;
      })
      .catch(() => false);
    if (isDelivered || attempt === attempts) return;
    setTimeout(() => void deliver(webhook, event, rawBody, attempt + 1), firstPauseMs * 2 ** (attempt - 1));
  }

  const announce: Announce = (type, { id, name }, states) => {
    const body = {
      id: `evt_${randomBytes(16).toString('hex')}`,
      type,
      createdAt: new Date().toISOString(),
      data: { sandbox: { id, name }, ...states },
    };
    const rawBody = JSON.stringify(body);
    (type === 'sandbox.ready' ? sent.ready : sent.archived).set(id, Date.now());
    if (fault === 'lost') return;
    for (const webhook of webhooks.values()) {
      if (!webhook.events.includes(type)) continue;
      void deliver(webhook, type, rawBody, 1);
      if (fault === 'doubled') void deliver(webhook, type, rawBody, 2);
    }
  };

  return {
    webhooks,
    sent,
    announce,
    setFault(next: WebhookFault) {
      fault = next;
    },
    close: () => agent.destroy(),
  };
}
