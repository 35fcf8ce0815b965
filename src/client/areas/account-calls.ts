import type {
  CreateApiKeyBody,
  DataRetentionBody,
  SelectRepoBody,
  UpdateEnvironmentBody,
  UpdateSecretsBody,
  UpgradeEnvironmentBody,
} from '../../contract/requests/account-requests.js';
import type { CreateWebhookBody, UpdateWebhookBody } from '../../contract/requests/sandbox-requests.js';
import type { Answer, CallOptions } from '../call-options.js';

/** Calls for the account itself and for everything that belongs to no sandbox. */
export interface AccountCalls {
  getMe(options?: CallOptions): Answer<'getMe'>;
  listProviderModels(options?: CallOptions): Answer<'listProviderModels'>;
  getLimits(options?: CallOptions): Answer<'getLimits'>;
  getDataRetention(options?: CallOptions): Answer<'getDataRetention'>;
  /** Needs an interactive session: API keys are refused (specification, "Authentication"). Safe to repeat. */
  updateDataRetention(body: DataRetentionBody, options?: CallOptions): Answer<'updateDataRetention'>;
  listRepos(options?: CallOptions): Answer<'listRepos'>;
  /** Safe to repeat. */
  selectRepo(body: SelectRepoBody, options?: CallOptions): Answer<'selectRepo'>;
  /** Lists names and times of secrets; values are never returned. */
  listSecrets(options?: CallOptions): Answer<'listSecrets'>;
  /** Safe to repeat. */
  updateSecrets(body: UpdateSecretsBody, options?: CallOptions): Answer<'updateSecrets'>;
  getDeletionOperation(operationId: string, options?: CallOptions): Answer<'getDeletionOperation'>;

  // Environments, the versioned configuration of sandboxes. Answers contain secret variables and files.
  listEnvironments(options?: CallOptions): Answer<'listEnvironments'>;
  /** Check before a repetition, because each change of content creates a version. */
  updateEnvironment(
    environmentId: string,
    body: UpdateEnvironmentBody,
    options?: CallOptions,
  ): Answer<'updateEnvironment'>;
  /** Moves the sandboxes in `agentIds`, or all sandboxes of the caller, to the latest version. Safe to repeat. */
  upgradeEnvironment(
    environmentId: string,
    body?: UpgradeEnvironmentBody,
    options?: CallOptions,
  ): Answer<'upgradeEnvironment'>;

  /** Not safe to repeat: each call that arrives creates a webhook. The `secret` is shown only here. */
  createWebhook(body: CreateWebhookBody, options?: CallOptions): Answer<'createWebhook'>;
  listWebhooks(options?: CallOptions): Answer<'listWebhooks'>;
  getWebhook(webhookId: string, options?: CallOptions): Answer<'getWebhook'>;
  updateWebhook(webhookId: string, body: UpdateWebhookBody, options?: CallOptions): Answer<'updateWebhook'>;
  deleteWebhook(webhookId: string, options?: CallOptions): Answer<'deleteWebhook'>;
  /** Each call replaces the secret again. Repeat until one answer has been read and its secret stored. */
  rotateWebhookSecret(webhookId: string, options?: CallOptions): Answer<'rotateWebhookSecret'>;

  // Scoped API keys. Rotate and revoke need an interactive session (specification, "Key lifecycle").
  listApiKeys(options?: CallOptions): Answer<'listApiKeys'>;
  /** Each call creates a key; repeat until one response is read and its secret stored. */
  createApiKey(body: CreateApiKeyBody, options?: CallOptions): Answer<'createApiKey'>;
  /** Works after revocation too. */
  getApiKeyUsage(apiKeyId: string, options?: CallOptions): Answer<'getApiKeyUsage'>;
  /** Each call replaces the secret again, at once. Repeat until one answer has been read and its secret stored. */
  rotateApiKey(apiKeyId: string, options?: CallOptions): Answer<'rotateApiKey'>;
  /** Safe to repeat. */
  revokeApiKey(apiKeyId: string, options?: CallOptions): Answer<'revokeApiKey'>;
}
