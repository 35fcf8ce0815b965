/** What an account has beside its sandboxes: environments, webhooks and keys. */
import { z } from 'zod';
import { apiKeySchema, environmentSchema } from '../records/account-records.js';
import { webhookSchema } from '../records/sandbox-records.js';
import {
  createApiKeyBodySchema,
  updateEnvironmentBodySchema,
  upgradeEnvironmentBodySchema,
} from '../requests/account-requests.js';
import { createWebhookBodySchema, updateWebhookBodySchema } from '../requests/sandbox-requests.js';
import { type Endpoint, read, update, write } from './endpoint.js';

const ofWebhook = z.looseObject({ webhook: webhookSchema });
const ofNewWebhook = z.looseObject({ webhook: webhookSchema, secret: z.string() });
const ofNewKey = z.looseObject({ apiKey: apiKeySchema.optional(), secret: z.string() });

/** Of those that make something, and show its secret once. */
const creation = { method: 'POST', status: 201, scope: 'account.admin', retry: 'evidence', secret: true } as const;
/** Of those that replace such a secret. */
const rotation = { method: 'POST', status: 200, scope: 'account.admin', retry: 'secret', secret: true } as const;
/** Of those that end it at once. */
const removal = { method: 'DELETE', status: 200, scope: 'account.admin', retry: 'safe' } as const;

export const resourceEndpoints = {
  // Versioned configuration of sandboxes. Their answers have `success` instead of `ok`.
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
  createWebhook: {
    ...creation,
    path: '/webhooks',
    summary: 'Register a webhook',
    type: 'webhook.created',
    body: createWebhookBodySchema,
    response: ofNewWebhook,
    assumed: ['A-answer-types', 'A-webhook-record'],
  },
  listWebhooks: {
    ...read,
    path: '/webhooks',
    summary: 'List webhooks',
    type: 'webhook.list',
    scope: 'account.admin',
    response: z.looseObject({ webhooks: z.array(webhookSchema) }),
    assumed: ['A-answer-types', 'A-webhook-record'],
  },
  getWebhook: {
    ...read,
    path: '/webhooks/{webhookId}',
    summary: 'Get a webhook',
    type: 'webhook.info',
    scope: 'account.admin',
    response: ofWebhook,
    assumed: ['A-answer-types', 'A-webhook-record'],
  },
  updateWebhook: {
    ...update,
    path: '/webhooks/{webhookId}',
    summary: 'Edit a webhook in place',
    type: 'webhook.updated',
    scope: 'account.admin',
    body: updateWebhookBodySchema,
    response: ofWebhook,
    assumed: ['A-answer-types', 'A-webhook-record'],
  },
  deleteWebhook: {
    ...removal,
    path: '/webhooks/{webhookId}',
    summary: 'Delete a webhook and its queued deliveries',
    type: 'webhook.deleted',
    response: z.looseObject({}),
    assumed: ['A-answer-types', 'A-webhook-record'],
  },
  rotateWebhookSecret: {
    ...rotation,
    path: '/webhooks/{webhookId}/rotate',
    summary: 'Replace the signing secret',
    type: 'webhook.rotated',
    response: z.looseObject({ webhook: webhookSchema.optional(), secret: z.string() }),
    assumed: ['A-answer-types', 'A-webhook-record', 'A-late-calls'],
  },
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
    ...creation,
    path: '/api-keys/scoped',
    summary: 'Create a scoped key',
    type: 'api_key.created',
    body: createApiKeyBodySchema,
    response: ofNewKey,
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
    ...rotation,
    path: '/api-keys/{apiKeyId}/rotate',
    summary: 'Replace the secret of a key',
    type: 'api_key.rotated',
    response: ofNewKey,
    sessionOnly: true,
    assumed: ['A-api-key-paths', 'A-late-calls'],
  },
  revokeApiKey: {
    ...removal,
    path: '/api-keys/{apiKeyId}',
    summary: 'Revoke a key immediately',
    type: 'api_key.revoked',
    response: z.looseObject({ apiKey: apiKeySchema.optional() }),
    sessionOnly: true,
    assumed: ['A-api-key-paths'],
  },
} as const satisfies Record<string, Endpoint>;
