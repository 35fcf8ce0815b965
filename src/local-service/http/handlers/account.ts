import { providerCatalog } from '../../domain/providers.js';
import type { Operations } from '../operation.js';

export const accountOperations: Pick<Operations, 'getMe' | 'listProviderModels'> = {
  getMe: () => ({
    fields: {
      user: {
        login: 'local',
        email: 'local@sandbox.invalid',
        zeroDataRetention: false,
        zeroDataRetentionEnabledAt: null,
      },
    },
  }),
  listProviderModels: (context) => ({
    fields: { providers: providerCatalog((provider) => context.agentOf(provider) !== undefined) },
  }),
};
