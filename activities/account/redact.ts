/** Views of records that may contain secrets. Workflows see only the fields without secrets. */
import type { ApiKey, Environment } from '../../src/contract/records/account-records.js';
import type { Webhook } from '../../src/contract/records/sandbox-records.js';

export const redacted = '[redacted]';

export type WebhookView = Pick<Webhook, 'id' | 'name' | 'url' | 'events'>;

export function webhookView({ id, name, url, events }: Webhook): WebhookView {
  return { id, name, url, events };
}

export type ApiKeyView = Pick<
  ApiKey,
  'id' | 'name' | 'prefix' | 'lastFour' | 'scope' | 'expiresAt' | 'lastUsedAt' | 'usage' | 'resources'
>;

export function apiKeyView(apiKey: ApiKey): ApiKeyView {
  const { id, name, prefix, lastFour, scope, expiresAt, lastUsedAt, usage, resources } = apiKey;
  return { id, name, prefix, lastFour, scope, expiresAt, lastUsedAt, usage, resources };
}

type Shown = 'id' | 'name' | 'isDefault' | 'latestVersionId' | 'versions' | 'selectedRepositories' | 'secretFiles';
type Flags = 'passRepoHost' | 'passSecrets' | 'passSandboxCredentials' | 'passAgentsCredentials';

/** `envContents` and the contents of secret files are `[redacted]` if they are set. */
export type EnvironmentView = Pick<Environment, Shown | Flags | 'safeForThirdParties' | 'envContents'>;

export function environmentView(environment: Environment): EnvironmentView {
  const { id, name, isDefault, latestVersionId, versions, selectedRepositories } = environment;
  const { safeForThirdParties, passRepoHost, passSecrets, passSandboxCredentials, passAgentsCredentials } = environment;
  return {
    id,
    name,
    isDefault,
    latestVersionId,
    safeForThirdParties,
    passRepoHost,
    passSecrets,
    passSandboxCredentials,
    passAgentsCredentials,
    envContents: environment.envContents ? redacted : environment.envContents,
    secretFiles: environment.secretFiles?.map(({ path }) => ({ path, contents: redacted })),
    versions,
    selectedRepositories,
  };
}
