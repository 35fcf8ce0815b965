import type { DataRetentionBody, SelectRepoBody, UpdateSecretsBody } from '../../contract/requests/account-requests.js';
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
}
