import { z } from 'zod';
import { webhookSchema } from '../records/sandbox-records.js';
import { createWebhookBodySchema, updateWebhookBodySchema } from '../requests/sandbox-requests.js';
import { type Endpoint, read, update } from './endpoint.js';

const ofWebhook = z.looseObject({ webhook: webhookSchema });
const ofNewSecret = z.looseObject({ webhook: webhookSchema, secret: z.string() });

export const webhookEndpoints = {
  createWebhook: {
    method: 'POST',
    path: '/webhooks',
    summary: 'Register a webhook',
    status: 201,
    type: 'webhook.created',
    scope: 'account.admin',
    retry: 'evidence',
    body: createWebhookBodySchema,
    response: ofNewSecret,
    secret: true,
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
    method: 'DELETE',
    path: '/webhooks/{webhookId}',
    summary: 'Delete a webhook and its queued deliveries',
    status: 200,
    type: 'webhook.deleted',
    scope: 'account.admin',
    retry: 'safe',
    response: z.looseObject({}),
    assumed: ['A-answer-types', 'A-webhook-record'],
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/webhooks/{webhookId}/rotate',
    summary: 'Replace the signing secret',
    status: 200,
    type: 'webhook.rotated',
    scope: 'account.admin',
    retry: 'secret',
    response: z.looseObject({ webhook: webhookSchema.optional(), secret: z.string() }),
    secret: true,
    assumed: ['A-answer-types', 'A-webhook-record', 'A-late-calls'],
  },
} as const satisfies Record<string, Endpoint>;
