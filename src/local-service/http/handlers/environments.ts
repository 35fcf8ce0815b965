import { environmentsFor, updateEnvironment } from '../../environments/environments.js';
import { upgradeEnvironment } from '../../environments/upgrade.js';
import { environmentView } from '../../environments/view.js';
import type { Operations } from '../operation.js';

export const environmentOperations: Pick<Operations, 'listEnvironments' | 'updateEnvironment' | 'upgradeEnvironment'> =
  {
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
  };
