/** The worker's own secrets: where activities keep what the service shows once, and take what workflows only name. */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { SandflowError } from '../../src/contract/sandflow-error.js';
import type { SecretStore } from '../../src/secret-store/index.js';

/** The store, or one that refuses, for a worker without. */
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
 * Makes sure that a secret can be kept before the service makes one: a key whose secret is lost stays a key.
 * @throws what the store throws
 */
export async function checkSecretsCanBeKept(secrets: SecretStore): Promise<void> {
  await secrets.delete(await secrets.put(`probe-${randomUUID()}`, ''));
}

/**
 * The secret that a workflow named.
 * @throws ApplicationFailure final, where there is none: another attempt cannot help
 */
export async function takeSecret(secrets: SecretStore, secretRef: string): Promise<string> {
  try {
    return await secrets.get(secretRef);
  } catch (error) {
    const isFinal = error instanceof SandflowError && /^(?:secret_not_found|bad_secret_name)$/.test(error.code);
    throw isFinal ? ApplicationFailure.nonRetryable(error.message, error.code) : error;
  }
}
