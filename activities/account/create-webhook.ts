/** Retry class `evidence`: webhook create. See `retry/send-at-most-once.ts`. */
import type { SandboxClient } from '../../src/client/index.js';
import type { Counted } from '../../src/contract/errors/service-failure.js';
import type { Webhook } from '../../src/contract/records/sandbox-records.js';
import type { CreateWebhookBody } from '../../src/contract/requests/sandbox-requests.js';
import type { SecretStore } from '../../src/secret-store/index.js';
import { createAttempt } from '../retry/attempt.js';
import { sendOnce } from '../retry/send-at-most-once.js';
import { type WebhookView, webhookView } from './redact.js';
import { checkSecretsCanBeKept, type KeptSecret, rotateAndKeep } from './secrets.js';

export interface CreatedWebhook extends KeptSecret {
  readonly webhook: WebhookView;
}

/**
 * Registers a webhook, once; its secret is stored as `webhook-<id>`. If the answer is lost, the only new webhook with
 * this URL and name is adopted, and its lost secret is rotated.
 *
 * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the webhook was created
 */
export function createWebhookActivity(client: SandboxClient, secrets: SecretStore) {
  return async function createWebhook(body: CreateWebhookBody): Promise<Counted<CreatedWebhook>> {
    const attempt = createAttempt();
    const list = async () => (await attempt.call((signal) => client.listWebhooks({ signal }))).webhooks;
    const isOurs = ({ url, name }: Webhook) => url === body.url && (name ?? body.name) === body.name;
    const value = await sendOnce<CreatedWebhook, readonly string[]>({
      endpoint: 'createWebhook',
      attempt,
      what: 'the webhook',
      where: 'the list of webhooks',
      async before() {
        await checkSecretsCanBeKept(secrets);
        return (await list()).filter(isOurs).map(({ id }) => id);
      },
      async send(timeoutMs) {
        const { webhook, secret } = await client.createWebhook(body, { timeoutMs });
        return { webhook: webhookView(webhook), secretRef: await secrets.put(`webhook-${webhook.id}`, secret) };
      },
      async look(known = []) {
        const matches = (await list()).filter((one) => isOurs(one) && !known.includes(one.id));
        const [match] = matches;
        if (!match || matches.length > 1) return null;
        const secretRef = await attempt.call((signal) => rotateAndKeep(client, secrets, match.id, signal));
        return { webhook: webhookView(match), secretRef };
      },
    });
    return { value, calls: attempt.calls() };
  };
}
