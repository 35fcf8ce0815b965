import type { UpdateEnvironmentBody, UpgradeEnvironmentBody } from '../../contract/requests/account-requests.js';
import type { Answer, CallOptions } from '../call-options.js';

/** Calls for environments, the versioned configuration of sandboxes. Answers contain secret variables and files. */
export interface EnvironmentCalls {
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
}
