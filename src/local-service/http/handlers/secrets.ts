import { updateSecrets } from '../../environments/secrets.js';
import type { Operations } from '../operation.js';

export const secretOperations: Pick<Operations, 'listSecrets' | 'updateSecrets'> = {
  listSecrets: (context, { caller }) => ({ fields: { secrets: context.stores.secrets.names(caller.accountId) } }),

  updateSecrets: (context, { caller, body }) => ({
    fields: { secrets: updateSecrets(context, caller.accountId, body) },
  }),
};
