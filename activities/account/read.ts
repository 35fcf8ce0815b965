/** Retry class `safe`: reads of the account, its webhooks and its list of sandboxes. */
import type { ListSandboxesQuery, SandboxClient } from '../../src/client/index.js';
import { oneCall, oneCallIfThere } from '../retry/one-call.js';
import { sandboxView } from '../sandbox-view.js';
import { apiKeyView, environmentView, webhookView } from './redact.js';

export function createAccountReads(client: SandboxClient) {
  return {
    /** The current user. Safe to repeat. */
    getMe: () => oneCall(async (o) => (await client.getMe(o)).user),

    /** Providers with their models. Safe to repeat. */
    listProviderModels: () => oneCall(async (o) => (await client.listProviderModels(o)).providers),

    /**
     * All sandboxes, across all pages. Safe to repeat.
     * @param query `{ include: 'cost' }` also returns the cost of each sandbox in this month. Default: without the cost
     */
    listSandboxes: (query: Pick<ListSandboxesQuery, 'include'> = {}) =>
      oneCall(async (o) => (await client.listAllSandboxes(query, o)).map(sandboxView)),

    /** All webhooks. Safe to repeat. */
    listWebhooks: () => oneCall(async (o) => (await client.listWebhooks(o)).webhooks.map(webhookView)),

    getLimits: () => oneCall(async (o) => (await client.getLimits(o)).limits),

    getDataRetention: () => oneCall(async (o) => (await client.getDataRetention(o)).policy),

    /** The repositories that sandboxes can use. */
    listRepos: () => oneCall(async (o) => (await client.listRepos(o)).repos),

    /** Names and times of the account's secrets; the service never returns their values. */
    listSecrets: (): Promise<{ readonly name: string; readonly updatedAt: string | null }[]> =>
      oneCall(async (o) => {
        const { secrets } = await client.listSecrets(o);
        return secrets.map(({ name, updatedAt }) => ({ name, updatedAt: updatedAt ?? null }));
      }),

    /** All environments, without the contents of variables and secret files. */
    listEnvironments: () => oneCall(async (o) => (await client.listEnvironments(o)).environments.map(environmentView)),

    listSnapshots: () => oneCall(async (o) => (await client.listSnapshots(o)).snapshots),

    /** Reads a webhook; null if it does not exist. */
    getWebhook: (webhookId: string) =>
      oneCallIfThere(async (o) => webhookView((await client.getWebhook(webhookId, o)).webhook)),

    /** The keys of the account; empty for a restricted key. */
    listApiKeys: () => oneCall(async (o) => (await client.listApiKeys(o)).apiKeys.map(apiKeyView)),

    /** Requests and resources of a key, also after it was revoked; null when it is unknown. */
    getApiKeyUsage: (apiKeyId: string) =>
      oneCallIfThere(async (o) => {
        const { usage, resources } = await client.getApiKeyUsage(apiKeyId, o);
        return { usage, resources };
      }),
  };
}
