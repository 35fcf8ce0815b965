/** The account's own endpoints and the webhooks. Secrets that they return stay in the worker process. */
import type { SandboxClient } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints.js';
import type { SandboxView } from '../../src/contract/sandbox-view.js';
import type { Counted } from '../../src/contract/service-failure.js';
import { withCallCount } from '../retry/attempt.js';
import { sandboxView } from '../sandbox/view.js';
import { type WebhookView, webhookView } from './redact.js';

export function createAccountActivities(client: SandboxClient) {
  return {
    /** The current user. Safe to repeat. */
    async getMe(): Promise<Counted<ResponseOf<'getMe'>['user']>> {
      return withCallCount(async ({ call }) => (await call((signal) => client.getMe({ signal }))).user);
    },

    /** Providers with their models. Safe to repeat. */
    async listProviderModels(): Promise<Counted<ResponseOf<'listProviderModels'>['providers']>> {
      return withCallCount(
        async ({ call }) => (await call((signal) => client.listProviderModels({ signal }))).providers,
      );
    },

    /** All sandboxes, page after page where the service pages. Safe to repeat. */
    async listSandboxes(): Promise<Counted<SandboxView[]>> {
      return withCallCount(async ({ call }) => {
        const sandboxes = await call((signal) => client.listAllSandboxes({}, { signal }));
        return sandboxes.map(sandboxView);
      });
    },

    /** All webhooks. Safe to repeat. */
    async listWebhooks(): Promise<Counted<WebhookView[]>> {
      return withCallCount(async ({ call }) => {
        const { webhooks } = await call((signal) => client.listWebhooks({ signal }));
        return webhooks.map(webhookView);
      });
    },
  };
}
