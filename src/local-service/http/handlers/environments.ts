import { environmentView } from '../../domain/environment-view.js';
import { environmentsFor, updateEnvironment } from '../../domain/environments.js';
import { upgradeEnvironment } from '../../domain/upgrade-environment.js';
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
