/**
 * Calls whose answers are secrets. The secret stays in the worker's secret store; the workflow gets a reference to it.
 * Retry class `secret` (rotate): repeated until a secret has been read and kept.
 */
import type { DesktopRequest, SandboxClient } from '../../src/client/index.js';
import type { Counted } from '../../src/contract/service-failure.js';
import type { SecretStore } from '../../src/secret-store/index.js';
import { withCallCount } from '../retry/attempt.js';
import { type ApiKeyView, apiKeyView } from './redact.js';
import { checkSecretsCanBeKept } from './stored-secrets.js';

export interface KeptSecret {
  /** For the worker's secret store. */
  readonly secretRef: string;
}

export interface KeptApiKey extends KeptSecret {
  /** Null where the service did not show it. */
  readonly apiKey: ApiKeyView | null;
}

/** Replaces the signing secret of a webhook and keeps the new one. */
export async function rotateAndKeep(
  client: SandboxClient,
  secrets: SecretStore,
  webhookId: string,
  signal?: AbortSignal,
): Promise<string> {
  const { secret } = await client.rotateWebhookSecret(webhookId, { signal });
  return secrets.put(`webhook-${webhookId}`, secret);
}

export function createSecretActivities(client: SandboxClient, secrets: SecretStore) {
  return {
    /** Replaces the signing secret of a webhook; kept as `webhook-<id>`. A repetition replaces it once more. */
    async rotateWebhookSecret(webhookId: string): Promise<Counted<KeptSecret>> {
      return withCallCount(async ({ call }) => {
        await checkSecretsCanBeKept(secrets);
        return { secretRef: await call((signal) => rotateAndKeep(client, secrets, webhookId, signal)) };
      });
    },

    /** Replaces the secret of a key, at once; kept as `api-key-<id>`. A repetition replaces it once more. */
    async rotateApiKey(apiKeyId: string): Promise<Counted<KeptApiKey>> {
      return withCallCount(async ({ call }) => {
        await checkSecretsCanBeKept(secrets);
        const { apiKey, secret } = await call((signal) => client.rotateApiKey(apiKeyId, { signal }));
        const secretRef = await secrets.put(`api-key-${apiKeyId}`, secret);
        return { apiKey: apiKey ? apiKeyView(apiKey) : null, secretRef };
      });
    },

    /** Asks for the URL of a desktop, which is a secret; kept as `desktop-<sandbox>`. Safe to repeat. */
    async openDesktop(sandboxId: string, request: DesktopRequest = {}): Promise<Counted<KeptSecret>> {
      return withCallCount(async ({ call }) => {
        const { url } = await call((signal) => client.openDesktop(sandboxId, request, { signal }));
        return { secretRef: await secrets.put(`desktop-${sandboxId}`, url) };
      });
    },
  };
}
