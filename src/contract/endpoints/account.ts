/** The account itself and what belongs to no sandbox. */
import { z } from 'zod';
import type { Endpoint } from '../endpoint.js';
import { deletionOperationSchema, providerModelsSchema, userSchema } from '../records.js';

export const accountEndpoints = {
  getMe: {
    method: 'GET',
    path: '/me',
    summary: 'Current user',
    status: 200,
    type: 'user.info',
    scope: 'account.read',
    retry: 'safe',
    response: z.looseObject({ user: userSchema }),
  },
  listProviderModels: {
    method: 'GET',
    path: '/provider-models',
    summary: 'Providers, their models and reasoning efforts',
    status: 200,
    type: 'provider.models',
    scope: 'account.read',
    retry: 'safe',
    response: z.looseObject({ providers: z.array(providerModelsSchema) }),
    assumed: 'response shape',
  },
  getDeletionOperation: {
    method: 'GET',
    path: '/deletion-operations/{operationId}',
    summary: 'Status of a deletion',
    status: 200,
    type: 'deletion.status',
    scope: 'sandbox.read',
    retry: 'safe',
    response: z.looseObject({ operation: deletionOperationSchema }),
    assumed: 'response shape',
  },
} as const satisfies Record<string, Endpoint>;
