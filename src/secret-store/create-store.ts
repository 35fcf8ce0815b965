import type { KeyRing } from '../encryption/key-ring.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { requireOptions } from '../settings/required-options.js';
import { isBucketAddress } from '../texts/bucket-address.js';
import { createDirectorySecrets } from './directory-store.js';
import { createBucketSecrets } from './s3-store.js';
import type { SecretStore } from './secret-store.js';

/**
 * Creates a secret store in a directory, for workers that share a file system, or in a bucket of S3, for those that do
 * not. Nothing is created before the first `put`.
 * @param place a directory of mode 700, with a file of mode 600 per secret; or `s3://bucket/prefix`, which needs the
 *   package `@aws-sdk/client-s3`
 * @param options.ring encrypts each secret in a bucket before it leaves the process, and is required there. A directory
 *   does not use it
 * @throws SandflowError `bad_configuration` for a bucket without a ring
 * @example
 * const secrets = createSecretStore('/var/lib/sandflow/secrets');
 * const activities = createActivities({ client: api, results, secrets, taskQueue });
 */
export function createSecretStore(place: string, { ring }: { readonly ring?: KeyRing } = {}): SecretStore {
  requireOptions({ place }, { place: 'a text' });
  if (!isBucketAddress(place)) return createDirectorySecrets(place);
  if (ring) return createBucketSecrets(place, ring);
  throw unencrypted(place);
}

/** A worker without keys refuses to start with this. */
export function unencrypted(address: string): SandflowError {
  const message = `Secrets in ${address} would be unencrypted. Set SANDFLOW_ENCRYPTION_KEYS_FILE (\`sandflow encryption new-key\`), or set SANDFLOW_SECRETS to a directory.`;
  return new SandflowError('bad_configuration', message);
}
