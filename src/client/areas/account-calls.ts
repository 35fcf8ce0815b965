import type { DataRetentionBody, SelectRepoBody, UpdateSecretsBody } from '../../contract/account-requests.js';
import { pathOf } from '../../contract/endpoints.js';
import type { Answer, CallOptions } from '../call-options.js';
import type { Call } from '../caller.js';

/** The account itself and what belongs to no sandbox. */
export interface AccountCalls {
  getMe(options?: CallOptions): Answer<'getMe'>;
  listProviderModels(options?: CallOptions): Answer<'listProviderModels'>;
  getLimits(options?: CallOptions): Answer<'getLimits'>;
  getDataRetention(options?: CallOptions): Answer<'getDataRetention'>;
  /** API keys are refused: it needs an interactive session (specification, "Authentication"). Safe to repeat. */
  updateDataRetention(body: DataRetentionBody, options?: CallOptions): Answer<'updateDataRetention'>;
  listRepos(options?: CallOptions): Answer<'listRepos'>;
  /** Safe to repeat. */
  selectRepo(body: SelectRepoBody, options?: CallOptions): Answer<'selectRepo'>;
  /** Names and times; values are never returned. */
  listSecrets(options?: CallOptions): Answer<'listSecrets'>;
  /** Safe to repeat. */
  updateSecrets(body: UpdateSecretsBody, options?: CallOptions): Answer<'updateSecrets'>;
  getDeletionOperation(operationId: string, options?: CallOptions): Answer<'getDeletionOperation'>;
}

export function accountCalls(call: Call): AccountCalls {
  return {
    getMe: (o) => call('getMe', { path: pathOf('getMe', {}) }, o),
    listProviderModels: (o) => call('listProviderModels', { path: pathOf('listProviderModels', {}) }, o),
    getLimits: (o) => call('getLimits', { path: pathOf('getLimits', {}) }, o),
    getDataRetention: (o) => call('getDataRetention', { path: pathOf('getDataRetention', {}) }, o),
    updateDataRetention: (body, o) => call('updateDataRetention', { path: pathOf('updateDataRetention', {}), body }, o),
    listRepos: (o) => call('listRepos', { path: pathOf('listRepos', {}) }, o),
    selectRepo: (body, o) => call('selectRepo', { path: pathOf('selectRepo', {}), body }, o),
    listSecrets: (o) => call('listSecrets', { path: pathOf('listSecrets', {}) }, o),
    updateSecrets: (body, o) => call('updateSecrets', { path: pathOf('updateSecrets', {}), body }, o),
    getDeletionOperation: (operationId, o) =>
      call('getDeletionOperation', { path: pathOf('getDeletionOperation', { operationId }) }, o),
  };
}
