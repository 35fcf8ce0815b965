import { environmentsFor, selectRepo, updateEnvironment } from '../../environments/environments.js';
import { reposOf } from '../../environments/repos.js';
import { updateSecrets } from '../../environments/secrets.js';
import { upgradeEnvironment } from '../../environments/upgrade.js';
import { environmentView } from '../../environments/view.js';
import type { Operations } from '../operation.js';

export const environmentOperations = {
  listEnvironments(context, { caller }) {
    const environments = environmentsFor(context, caller).map((environment) => environmentView(context, environment));
    return { fields: { environments } };
  },

  updateEnvironment(context, { caller, params: { environmentId }, body }) {
    const environment = updateEnvironment(context, caller, environmentId, body);
    return { fields: { environment: environmentView(context, environment) } };
  },

  async upgradeEnvironment(context, { caller, params: { environmentId }, body }) {
    const { upgraded, failed } = await upgradeEnvironment(context, caller, environmentId, body?.agentIds);
    return { fields: { upgraded, failed } };
  },

  listRepos: (context, { caller }) => ({ fields: { repos: reposOf(context, caller.accountId) } }),

  selectRepo: (context, { caller, body }) => ({ fields: { repo: selectRepo(context, caller, body) } }),

  listSecrets: (context, { caller }) => ({ fields: { secrets: context.stores.secrets.names(caller.accountId) } }),

  updateSecrets: (context, { caller, body }) => ({
    fields: { secrets: updateSecrets(context, caller.accountId, body) },
  }),
} satisfies Partial<Operations>;
