/** Retry class `evidence`: webhook create. See `retry/send-at-most-once.ts`. */
import type { SandboxClient } from '../../src/client/index.js';
import type { Webhook } from '../../src/contract/records/sandbox-records.js';
import type { CreateWebhookBody } from '../../src/contract/requests/sandbox-requests.js';
import type { SecretStore } from '../../src/secret-store/index.js';
import { currentAttempt } from '../retry/attempt.js';
import { outcomeUnknown } from '../retry/classify.js';
import { type RotateOptions, rotateAdopted, unlessRefused } from '../retry/rotate.js';
import { sendOnce } from '../retry/send-at-most-once.js';
import { type WebhookView, webhookView } from './redact.js';
import { checkSecretsCanBeKept, type KeptSecret } from './secrets.js';

export interface CreatedWebhook extends KeptSecret {
  readonly webhook: WebhookView;
}

type Created = { readonly kept: CreatedWebhook } | { readonly lost: Webhook; readonly known: readonly string[] };

/**
 * Registers a webhook, once; its secret is stored as `webhook-<id>`. If the answer is lost, the only new webhook with
 * this URL and name is adopted, and its lost secret is rotated.
 *
 * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the webhook was created, or if the secret of a
 *   created webhook is lost. The message names that webhook
 */
export function createWebhookActivity(client: SandboxClient, secrets: SecretStore, options: RotateOptions = {}) {
  const keep = async (webhook: Webhook, secret: string): Promise<CreatedWebhook> => ({
    webhook: webhookView(webhook),
    secretRef: await secrets.put(`webhook-${webhook.id}`, secret),
  });
  return async function createWebhook(body: CreateWebhookBody): Promise<CreatedWebhook> {
    const attempt = currentAttempt();
    const list = async () => (await attempt.call((signal) => client.listWebhooks({ signal }))).webhooks;
    const isOurs = ({ url, name }: Webhook) => url === body.url && (name ?? body.name) === body.name;
    const created = await sendOnce<Created, readonly string[]>({
      endpoint: 'createWebhook',
      attempt,
      what: 'the webhook',
      noEvidence: 'the list of webhooks does not show it',
      async before() {
        await checkSecretsCanBeKept(secrets);
        return (await list()).filter(isOurs).map(({ id }) => id);
      },
      async send(timeoutMs) {
        const { webhook, secret } = await client.createWebhook(body, { timeoutMs });
        return { kept: await keep(webhook, secret) };
      },
      async look(known = []) {
        const [lost, ...others] = (await list()).filter((one) => isOurs(one) && !known.includes(one.id));
        return lost && others.length === 0 ? { lost, known } : null;
      },
    });
    if ('kept' in created) return created.kept;
    const { lost, known } = created;
    const rotated = await unlessRefused(() =>
      rotateAdopted(attempt, (signal) => client.rotateWebhookSecret(lost.id, { signal }), { ...options, known }),
    );
    if (rotated) return keep(lost, rotated.secret);
    const left = `The webhook ${lost.id} was created, and its secret is lost. Rotate or delete it.`;
    throw outcomeUnknown(left, { endpoint: 'createWebhook' });
  };
}
