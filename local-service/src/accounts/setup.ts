/** Sets up environments and repositories of an account. The API cannot; the service object can. */
import type { z } from 'zod';
import { updateEnvironmentBodySchema } from '../../../src/contract/requests/account-requests.js';
import { nameSchema } from '../../../src/contract/requests/sandbox-requests.js';
import type { Context } from '../core/context.js';
import { firstAccountId } from '../core/ids.js';
import { addEnvironment, removeEnvironment } from '../environments/environments.js';
import { configuredRepos, type LocalRepo, setRepos } from '../environments/repos.js';
import { environmentView } from '../environments/view.js';
import { accountOf } from './records.js';

export const newEnvironmentSchema = updateEnvironmentBodySchema.extend({ name: nameSchema });
export type NewEnvironment = z.infer<typeof newEnvironmentSchema>;

/** Sets up what the service's interface cannot create. */
export interface AccountSetup {
  /**
   * Creates an environment; flags that are not given are false. Not safe to repeat.
   * @param accountId default: the account of the key that the service was started with
   * @returns the environment as `GET /environments` shows it
   * @throws ServiceError as PUT /environments/{environmentId}; 404 for an unknown account
   */
  createEnvironment(environment: NewEnvironment, accountId?: string): Readonly<Record<string, unknown>>;
  /**
   * Deletes an environment. Its sandboxes keep their version, and show no environment. Safe to repeat: a second call
   * throws 404.
   * @throws ServiceError 404; 409 `default_environment_required`
   */
  removeEnvironment(environmentId: string): void;
  /**
   * Sets what `GET /repos` lists for an account, in place of the service's option `repos`. Safe to repeat.
   * @throws SandflowError `bad_configuration` if the repositories are malformed or not unique
   */
  setRepos(repos: readonly LocalRepo[], accountId?: string): void;
}

export function createAccountSetup(context: Context): AccountSetup {
  return {
    createEnvironment(environment, accountId = firstAccountId) {
      accountOf(context, accountId);
      return environmentView(context, addEnvironment(context, accountId, environment));
    },
    removeEnvironment: (environmentId) => removeEnvironment(context, environmentId),
    setRepos(repos, accountId = firstAccountId) {
      accountOf(context, accountId);
      setRepos(context, accountId, configuredRepos(repos));
    },
  };
}
