import { requireWebhookUrl } from '../../deliveries/url-rules.js';
import type { Context } from '../../domain/context.js';
import { newWebhookId, newWebhookSecret } from '../../domain/ids.js';
import { ServiceError } from '../../service-error.js';
import type { WebhookRecord } from '../../store/webhook-store.js';
import type { Operations } from '../operation.js';

/** Specification, "Limits". */
const MAX_WEBHOOKS = 10;

type WebhookOperations = Pick<
  Operations,
  'createWebhook' | 'listWebhooks' | 'getWebhook' | 'updateWebhook' | 'deleteWebhook' | 'rotateWebhookSecret'
>;

/** The secret is shown on create and rotate only. */
const shown = ({ id, name, url, events, createdAt }: WebhookRecord) => ({ id, name, url, events, createdAt });

/** @param options.strictUrls refuses loopback addresses too */
export function webhookOperations({ strictUrls }: { readonly strictUrls: boolean }): WebhookOperations {
  return {
    createWebhook(context, { body: { name, url, events } }) {
      const { webhooks } = context.stores;
      requireWebhookUrl(url, strictUrls);
      if (webhooks.all().length >= MAX_WEBHOOKS) {
        throw new ServiceError(
          429,
          'limit_reached',
          `An account has at most ${MAX_WEBHOOKS} webhooks. Delete one first.`,
        );
      }
      const secret = newWebhookSecret();
      const createdAt = context.clock.iso();
      const webhook = { id: newWebhookId(), name, url, events: [...new Set(events)], secret, createdAt };
      webhooks.put(webhook);
      return { fields: { webhook: shown(webhook), secret } };
    },

    listWebhooks: ({ stores }) => ({ fields: { webhooks: stores.webhooks.all().map(shown) } }),

    getWebhook: (context, { params }) => ({ fields: { webhook: shown(find(context, params.webhookId)) } }),

    updateWebhook(context, { params, body }) {
      const webhook = find(context, params.webhookId);
      const { name, url, events } = body;
      if (name === undefined && url === undefined && events === undefined) {
        throw new ServiceError(400, 'no_changes', 'Give at least one of name, url and events.');
      }
      if (url !== undefined) requireWebhookUrl(url, strictUrls);
      const changed = {
        ...webhook,
        name: name ?? webhook.name,
        url: url ?? webhook.url,
        events: events ? [...new Set(events)] : webhook.events,
      };
      context.stores.webhooks.put(changed);
      return { fields: { webhook: shown(changed) } };
    },

    deleteWebhook(context, { params }) {
      const { id } = find(context, params.webhookId);
      context.database.transaction(() => context.stores.webhooks.remove(id));
      return { fields: { id } };
    },

    rotateWebhookSecret(context, { params }) {
      const rotated = { ...find(context, params.webhookId), secret: newWebhookSecret() };
      context.stores.webhooks.put(rotated);
      return { fields: { webhook: shown(rotated), secret: rotated.secret } };
    },
  };
}

function find({ stores }: Context, webhookId: string): WebhookRecord {
  const webhook = stores.webhooks.get(webhookId);
  if (!webhook) throw new ServiceError(404, 'not_found', `There is no webhook ${webhookId}.`);
  return webhook;
}
