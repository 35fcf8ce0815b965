/** The worker's own secrets: where activities keep what the service shows once, and take what workflows only name. */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { SecretStore } from '../src/secret-store/index.js';

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
