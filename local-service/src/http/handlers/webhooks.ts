import type { Caller } from '../../access/key-scope.js';
import { maxWebhooks } from '../../accounts/limits.js';
import { assume } from '../../core/assume.js';
import type { Context } from '../../core/context.js';
import { newWebhookId, newWebhookSecret } from '../../core/ids.js';
import { notFound, ServiceError } from '../../service-error.js';
import type { WebhookRecord } from '../../store/webhook-store.js';
import { type ResolveHost, requirePublicHost } from '../../webhooks/public-address.js';
import { requireWebhookUrl } from '../../webhooks/url-rules.js';
import type { Operations } from '../operation.js';

/** The secret is shown on create and rotate only. */
const shown = ({ id, name, url, events, createdAt }: WebhookRecord) => ({ id, name, url, events, createdAt });

/**
 * @param options.strictUrls if true, refuses loopback addresses too, and names that lead to addresses that are not
 *   public
 */
export function webhookOperations(options: { readonly strictUrls: boolean; readonly resolveHost: ResolveHost }) {
  const { strictUrls, resolveHost } = options;

  async function checkUrl(text: string): Promise<void> {
    const url = requireWebhookUrl(text, strictUrls);
    if (url.protocol === 'http:') assume('A-local-webhook-urls');
    if (strictUrls) await requirePublicHost(url, resolveHost);
  }

  return {
    async createWebhook(context, { caller, surface, body: { name, url, events } }) {
      const { webhooks } = context.stores;
      await checkUrl(url);
      if (webhooks.of(caller.accountId).length >= maxWebhooks) {
        throw new ServiceError(
          429,
          'limit_reached',
          `An account can have at most ${maxWebhooks} webhooks. Delete one first.`,
        );
      }
      const webhook: WebhookRecord = {
        id: newWebhookId(),
        name,
        url,
        events: [...new Set(events)],
        secret: newWebhookSecret(),
        createdAt: context.clock.iso(),
        accountId: caller.accountId,
        legacy: surface === 'legacy' || context.deviations.has('legacy-deliveries'),
      };
      webhooks.put(webhook);
      return { fields: { webhook: shown(webhook), secret: webhook.secret } };
    },

    listWebhooks: ({ stores }, { caller }) => ({
      fields: { webhooks: stores.webhooks.of(caller.accountId).map(shown) },
    }),

    getWebhook: (context, { caller, params }) => ({
      fields: { webhook: shown(find(context, caller, params.webhookId)) },
    }),

    async updateWebhook(context, { caller, params, body }) {
      find(context, caller, params.webhookId);
      const { name, url, events } = body;
      if (name === undefined && url === undefined && events === undefined) {
        throw new ServiceError(400, 'no_changes', 'Specify at least one of name, url and events.');
      }
      if (url !== undefined) await checkUrl(url);
      // Read again after the wait: another call may have changed or deleted the webhook.
      const webhook = find(context, caller, params.webhookId);
      const changed = {
        ...webhook,
        name: name ?? webhook.name,
        url: url ?? webhook.url,
        events: events ? [...new Set(events)] : webhook.events,
      };
      context.stores.webhooks.put(changed);
      return { fields: { webhook: shown(changed) } };
    },

    deleteWebhook(context, { caller, params }) {
      const { id } = find(context, caller, params.webhookId);
      context.database.transaction(() => context.stores.webhooks.remove(id));
      return { fields: { id } };
    },

    rotateWebhookSecret(context, { caller, params }) {
      const rotated = { ...find(context, caller, params.webhookId), secret: newWebhookSecret() };
      context.stores.webhooks.put(rotated);
      return { fields: { webhook: shown(rotated), secret: rotated.secret } };
    },
  } satisfies Partial<Operations>;
}

function find({ stores }: Context, { accountId }: Caller, webhookId: string): WebhookRecord {
  const webhook = stores.webhooks.get(webhookId);
  if (webhook?.accountId !== accountId) throw notFound(`The webhook ${webhookId} does not exist.`);
  return webhook;
}
