import { z } from 'zod';
import { apiKeySchema } from '../records/account-records.js';
import { createApiKeyBodySchema } from '../requests/account-requests.js';
import { type Endpoint, read } from './endpoint.js';

const ofNewSecret = z.looseObject({ apiKey: apiKeySchema.optional(), secret: z.string() });

export const apiKeyEndpoints = {
  listApiKeys: {
    ...read,
    path: '/api-keys',
    summary: 'List keys',
    type: 'api_key.list',
    scope: 'account.read',
    response: z.looseObject({
      apiKeys: z.array(apiKeySchema),
      catalog: z.looseObject({ scopedCreationEnabled: z.boolean().optional() }).optional(),
    }),
    assumed: ['A-api-key-row'],
  },
  createApiKey: {
    method: 'POST',
    path: '/api-keys/scoped',
    summary: 'Create a scoped key',
    status: 201,
    type: 'api_key.created',
    scope: 'account.admin',
    retry: 'evidence',
    body: createApiKeyBodySchema,
    response: ofNewSecret,
    secret: true,
    assumed: ['A-api-key-create', 'A-api-key-row'],
  },
  getApiKeyUsage: {
    ...read,
    path: '/api-keys/{apiKeyId}/usage',
    summary: 'Get the requests and resources of a key',
    type: 'api_key.usage',
    scope: 'account.read',
    response: z.looseObject({
      usage: z.looseObject({ requests: z.number() }),
      resources: z.looseObject({ total: z.number() }),
    }),
    assumed: ['A-api-key-usage'],
  },
  rotateApiKey: {
    method: 'POST',
    path: '/api-keys/{apiKeyId}/rotate',
    summary: 'Replace the secret of a key',
    status: 200,
    type: 'api_key.rotated',
    scope: 'account.admin',
    retry: 'secret',
    response: ofNewSecret,
    secret: true,
    sessionOnly: true,
    assumed: ['A-api-key-paths', 'A-late-calls'],
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/api-keys/{apiKeyId}',
    summary: 'Revoke a key immediately',
    status: 200,
    type: 'api_key.revoked',
    scope: 'account.admin',
    retry: 'safe',
    response: z.looseObject({ apiKey: apiKeySchema.optional() }),
    sessionOnly: true,
    assumed: ['A-api-key-paths'],
  },
} as const satisfies Record<string, Endpoint>;
