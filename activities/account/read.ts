/** Retry class `safe`: reads of the account, its webhooks and its list of sandboxes. */
import type { ListSandboxesQuery, SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import type { DataRetention, Limits, Repo } from '../../src/contract/records/account-records.js';
import type { Snapshot } from '../../src/contract/records/machine-records.js';
import type { SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { repeatable } from '../retry/attempt.js';
import { sandboxView } from '../sandbox-view.js';
import {
  type ApiKeyView,
  apiKeyView,
  type EnvironmentView,
  environmentView,
  type WebhookView,
  webhookView,
} from './redact.js';

export function createAccountReads(client: SandboxClient) {
  return {
    /** The current user. Safe to repeat. */
    async getMe(): Promise<ResponseOf<'getMe'>['user']> {
      return repeatable(async ({ call }) => (await call((signal) => client.getMe({ signal }))).user);
    },

    /** Providers with their models. Safe to repeat. */
    async listProviderModels(): Promise<ResponseOf<'listProviderModels'>['providers']> {
      return repeatable(async ({ call }) => (await call((signal) => client.listProviderModels({ signal }))).providers);
    },

    /**
     * All sandboxes, across all pages. Safe to repeat.
     * @param query `{ include: 'cost' }` also returns the cost of each sandbox in this month. Default: without the cost
     */
    async listSandboxes(query: Pick<ListSandboxesQuery, 'include'> = {}): Promise<SandboxView[]> {
      return repeatable(async ({ call }) => {
        const sandboxes = await call((signal) => client.listAllSandboxes(query, { signal }));
        return sandboxes.map(sandboxView);
      });
    },

    /** All webhooks. Safe to repeat. */
    async listWebhooks(): Promise<WebhookView[]> {
      return repeatable(async ({ call }) => {
        const { webhooks } = await call((signal) => client.listWebhooks({ signal }));
        return webhooks.map(webhookView);
      });
    },

    async getLimits(): Promise<Limits> {
      return repeatable(async ({ call }) => (await call((signal) => client.getLimits({ signal }))).limits);
    },

    async getDataRetention(): Promise<DataRetention> {
      return repeatable(async ({ call }) => (await call((signal) => client.getDataRetention({ signal }))).policy);
    },

    /** The repositories that sandboxes can use. */
    async listRepos(): Promise<Repo[]> {
      return repeatable(async ({ call }) => (await call((signal) => client.listRepos({ signal }))).repos);
    },

    /** Names and times of the account's secrets; the service never returns their values. */
    async listSecrets(): Promise<{ readonly name: string; readonly updatedAt: string | null }[]> {
      return repeatable(async ({ call }) => {
        const { secrets } = await call((signal) => client.listSecrets({ signal }));
        return secrets.map(({ name, updatedAt }) => ({ name, updatedAt: updatedAt ?? null }));
      });
    },

    /** All environments, without the contents of variables and secret files. */
    async listEnvironments(): Promise<EnvironmentView[]> {
      return repeatable(async ({ call }) => {
        const { environments } = await call((signal) => client.listEnvironments({ signal }));
        return environments.map(environmentView);
      });
    },

    async listSnapshots(): Promise<Snapshot[]> {
      return repeatable(async ({ call }) => (await call((signal) => client.listSnapshots({ signal }))).snapshots);
    },

    /** Reads a webhook; null if it does not exist. */
    async getWebhook(webhookId: string): Promise<WebhookView | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.getWebhook(webhookId, { signal })));
        return answer && webhookView(answer.webhook);
      });
    },

    /** The keys of the account; empty for a restricted key. */
    async listApiKeys(): Promise<ApiKeyView[]> {
      return repeatable(async ({ call }) => {
        const { apiKeys } = await call((signal) => client.listApiKeys({ signal }));
        return apiKeys.map(apiKeyView);
      });
    },

    /** Requests and resources of a key, also after it was revoked; null when it is unknown. */
    async getApiKeyUsage(apiKeyId: string) {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.getApiKeyUsage(apiKeyId, { signal })));
        return answer && { usage: answer.usage, resources: answer.resources };
      });
    },
  };
}
