/** Environments: versioned configuration of sandboxes. Their answers have `success` instead of `ok`. */
import { z } from 'zod';
import { environmentSchema } from '../records/account-records.js';
import { updateEnvironmentBodySchema, upgradeEnvironmentBodySchema } from '../requests/account-requests.js';
import { type Endpoint, read, write } from './endpoint.js';

export const environmentEndpoints = {
  listEnvironments: {
    ...read,
    path: '/environments',
    summary: 'List environments',
    type: null,
    scope: 'environment.read',
    response: z.looseObject({ environments: z.array(environmentSchema) }),
    secret: true,
    assumed: ['A-environment-list'],
  },
  updateEnvironment: {
    method: 'PUT',
    path: '/environments/{environmentId}',
    summary: 'Update an environment. A change of its content creates a new version',
    status: 200,
    type: null,
    scope: 'environment.write',
    retry: 'evidence',
    body: updateEnvironmentBodySchema,
    response: z.looseObject({ environment: environmentSchema }),
    secret: true,
  },
  upgradeEnvironment: {
    ...write,
    path: '/environments/{environmentId}/upgrade',
    summary: 'Move sandboxes to the latest version',
    type: null,
    scope: 'environment.write',
    body: upgradeEnvironmentBodySchema,
    bodyOptional: true,
    response: z.looseObject({ upgraded: z.number(), failed: z.number() }),
  },
} as const satisfies Record<string, Endpoint>;
