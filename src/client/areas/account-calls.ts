import type { DataRetentionBody, SelectRepoBody, UpdateSecretsBody } from '../../contract/requests/account-requests.js';
import type { Answer, CallOptions } from '../call-options.js';
import type { Call } from '../caller.js';

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

export function accountCalls(call: Call): AccountCalls {
  return {
    getMe: (o) => call('getMe', {}, o),
    listProviderModels: (o) => call('listProviderModels', {}, o),
    getLimits: (o) => call('getLimits', {}, o),
    getDataRetention: (o) => call('getDataRetention', {}, o),
    updateDataRetention: (body, o) => call('updateDataRetention', { body }, o),
    listRepos: (o) => call('listRepos', {}, o),
    selectRepo: (body, o) => call('selectRepo', { body }, o),
    listSecrets: (o) => call('listSecrets', {}, o),
    updateSecrets: (body, o) => call('updateSecrets', { body }, o),
    getDeletionOperation: (operationId, o) => call('getDeletionOperation', { operationId }, o),
  };
}
