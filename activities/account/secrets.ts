/**
 * Secrets that the service shows once. They stay in the worker's secret store, and workflows get references to them.
 * Retry class `secret` (`retry/rotate.ts`): the call is repeated until a secret is stored.
 */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { DesktopRequest, SandboxClient } from '../../src/client/index.js';
import { SandflowError } from '../../src/errors/sandflow-error.js';
import type { SecretStore } from '../../src/secret-store/index.js';
import { repeatable } from '../retry/attempt.js';
import { type RotateOptions, rotate } from '../retry/rotate.js';
import { type ApiKeyView, apiKeyView } from './redact.js';

export interface KeptSecret {
  /** Reference to the worker's secret store. */
  readonly secretRef: string;
}

export interface KeptApiKey extends KeptSecret {
  /** Null if the service did not show the key. */
  readonly apiKey: ApiKeyView | null;
}

export function createSecretActivities(client: SandboxClient, secrets: SecretStore, options: RotateOptions = {}) {
  return {
    /**
     * Replaces the signing secret of a webhook, and stores the new one as `webhook-<id>`. A repetition replaces it
     * again: after a lost answer, half a minute later.
     */
    rotateWebhookSecret: (webhookId: string): Promise<KeptSecret> =>
      repeatable(async (attempt) => {
        await checkSecretsCanBeKept(secrets);
        const { secret } = await rotate(
          attempt,
          (signal) => client.rotateWebhookSecret(webhookId, { signal }),
          options,
        );
        return { secretRef: await secrets.put(`webhook-${webhookId}`, secret) };
      }),

    /**
     * Replaces the secret of a key immediately, and stores the new one as `api-key-<id>`. A repetition replaces it
     * again: after a lost answer, half a minute later.
     */
    rotateApiKey: (apiKeyId: string): Promise<KeptApiKey> =>
      repeatable(async (attempt) => {
        await checkSecretsCanBeKept(secrets);
        const answer = await rotate(attempt, (signal) => client.rotateApiKey(apiKeyId, { signal }), options);
        const { apiKey, secret } = answer;
        const secretRef = await secrets.put(`api-key-${apiKeyId}`, secret);
        return { apiKey: apiKey ? apiKeyView(apiKey) : null, secretRef };
      }),

    /** Requests the URL of a desktop. The URL is a secret, and is stored as `desktop-<sandbox>`. Safe to repeat. */
    openDesktop: (sandboxId: string, request: DesktopRequest = {}): Promise<KeptSecret> =>
      repeatable(async ({ call }) => {
        const { url } = await call((signal) => client.openDesktop(sandboxId, request, { signal }));
        return { secretRef: await secrets.put(`desktop-${sandboxId}`, url) };
      }),
  };
}

/** Returns the store. If the worker has none, returns a store that refuses every call. */
export function secretsOrRefusal(secrets: SecretStore | undefined): SecretStore {
  if (secrets) return secrets;
  const refuse = async () => {
    throw ApplicationFailure.nonRetryable(
      'This worker has no secret store; give it one: `secrets`.',
      'no_secret_store',
    );
  };
  return { put: refuse, get: refuse, delete: refuse, list: refuse };
}

/**
 * Checks that the store accepts a secret before the service creates one. If the secret were lost, the key would still
 * be valid.
 * @throws what the store throws
 */
export async function checkSecretsCanBeKept(secrets: SecretStore): Promise<void> {
  await secrets.delete(await secrets.put(`probe-${randomUUID()}`, ''));
}

/**
 * Reads the secret that a workflow names.
 * @throws ApplicationFailure if there is no such secret; not retried, because another attempt cannot help
 */
export async function takeSecret(secrets: SecretStore, secretRef: string): Promise<string> {
  try {
    return await secrets.get(secretRef);
  } catch (error) {
    const isFinal = error instanceof SandflowError && /^(?:secret_not_found|bad_secret_name)$/.test(error.code);
    throw isFinal ? ApplicationFailure.nonRetryable(error.message, error.code) : error;
  }
}
