/** Retry class `safe`: reads of the account, its webhooks and its list of sandboxes. */
import type { ListSandboxesQuery, SandboxClient } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import type { DataRetention, Limits, Repo } from '../../src/contract/records/account-records.js';
import type { Snapshot } from '../../src/contract/records/machine-records.js';
import type { SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { oneCall, oneCallIfThere } from '../retry/one-call.js';
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
      return oneCall(async (o) => (await client.getMe(o)).user);
    },

    /** Providers with their models. Safe to repeat. */
    async listProviderModels(): Promise<ResponseOf<'listProviderModels'>['providers']> {
      return oneCall(async (o) => (await client.listProviderModels(o)).providers);
    },

    /**
     * All sandboxes, across all pages. Safe to repeat.
     * @param query `{ include: 'cost' }` also returns the cost of each sandbox in this month. Default: without the cost
     */
    async listSandboxes(query: Pick<ListSandboxesQuery, 'include'> = {}): Promise<SandboxView[]> {
      return oneCall(async (o) => (await client.listAllSandboxes(query, o)).map(sandboxView));
    },

    /** All webhooks. Safe to repeat. */
    async listWebhooks(): Promise<WebhookView[]> {
      return oneCall(async (o) => (await client.listWebhooks(o)).webhooks.map(webhookView));
    },

    async getLimits(): Promise<Limits> {
      return oneCall(async (o) => (await client.getLimits(o)).limits);
    },

    async getDataRetention(): Promise<DataRetention> {
      return oneCall(async (o) => (await client.getDataRetention(o)).policy);
    },

    /** The repositories that sandboxes can use. */
    async listRepos(): Promise<Repo[]> {
      return oneCall(async (o) => (await client.listRepos(o)).repos);
    },

    /** Names and times of the account's secrets; the service never returns their values. */
    async listSecrets(): Promise<{ readonly name: string; readonly updatedAt: string | null }[]> {
      return oneCall(async (o) => {
        const { secrets } = await client.listSecrets(o);
        return secrets.map(({ name, updatedAt }) => ({ name, updatedAt: updatedAt ?? null }));
      });
    },

    /** All environments, without the contents of variables and secret files. */
    async listEnvironments(): Promise<EnvironmentView[]> {
      return oneCall(async (o) => (await client.listEnvironments(o)).environments.map(environmentView));
    },

    async listSnapshots(): Promise<Snapshot[]> {
      return oneCall(async (o) => (await client.listSnapshots(o)).snapshots);
    },

    /** Reads a webhook; null if it does not exist. */
    async getWebhook(webhookId: string): Promise<WebhookView | null> {
      return oneCallIfThere(async (o) => webhookView((await client.getWebhook(webhookId, o)).webhook));
    },

    /** The keys of the account; empty for a restricted key. */
    async listApiKeys(): Promise<ApiKeyView[]> {
      return oneCall(async (o) => (await client.listApiKeys(o)).apiKeys.map(apiKeyView));
    },

    /** Requests and resources of a key, also after it was revoked; null when it is unknown. */
    async getApiKeyUsage(apiKeyId: string) {
      return oneCallIfThere(async (o) => {
        const { usage, resources } = await client.getApiKeyUsage(apiKeyId, o);
        return { usage, resources };
      });
    },
  };
}
