/** Views of records that may contain secrets. Workflows see only the fields without secrets. */
import type { ApiKey, Environment } from '../../src/contract/records/account-records.js';
import type { Webhook } from '../../src/contract/records/sandbox-records.js';

const redacted = '[redacted]';

function fieldsOf<T extends object, Name extends keyof T>(record: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<T, Name>;
}

export type WebhookView = ReturnType<typeof webhookView>;

export const webhookView = (webhook: Webhook) => fieldsOf(webhook, ['id', 'name', 'url', 'events']);

export type ApiKeyView = ReturnType<typeof apiKeyView>;

export const apiKeyView = (apiKey: ApiKey) =>
  fieldsOf(apiKey, ['id', 'name', 'prefix', 'lastFour', 'scope', 'expiresAt', 'lastUsedAt', 'usage', 'resources']);

export type EnvironmentView = ReturnType<typeof environmentView>;

/** `envContents` and the contents of secret files are `[redacted]` if they are set. */
export const environmentView = (environment: Environment) => ({
  ...fieldsOf(environment, ['id', 'name', 'isDefault', 'latestVersionId', 'safeForThirdParties']),
  ...fieldsOf(environment, ['passRepoHost', 'passSecrets', 'passSandboxCredentials', 'passAgentsCredentials']),
  envContents: environment.envContents ? redacted : environment.envContents,
  secretFiles: environment.secretFiles?.map(({ path }) => ({ path, contents: redacted })),
  ...fieldsOf(environment, ['versions', 'selectedRepositories']),
});
