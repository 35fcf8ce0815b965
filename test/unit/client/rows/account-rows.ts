import { id, type Row } from './row.js';

const webhook = { id: 'wh_1', url: 'https://a.example/', events: ['sandbox.ready'] };
const repo = { id: 1, databaseId: 'r1', name: 'a', fullName: 'o/a' };
const environment = { id: 'env-1', name: 'default' };

/** The account, its environments, keys and webhooks. */
export const accountRows = {
  getMe: { call: (c) => c.getMe(), sends: 'GET /v1/me', answer: { user: { login: 'ada' } } },
  listProviderModels: {
    call: (c) => c.listProviderModels(),
    sends: 'GET /v1/provider-models',
    answer: { providers: [{ provider: 'pi' }] },
  },
  getLimits: {
    call: (c) => c.getLimits(),
    sends: 'GET /v1/limits',
    answer: { limits: { sandboxes: { used: 1, max: 10 } } },
  },
  getDataRetention: {
    call: (c) => c.getDataRetention(),
    sends: 'GET /v1/account/data-retention',
    answer: { policy: { snapshotDays: 14, zeroDataRetention: false } },
  },
  updateDataRetention: {
    call: (c) => c.updateDataRetention({ zeroDataRetention: true }),
    sends: 'PATCH /v1/account/data-retention',
    body: { zeroDataRetention: true },
    answer: { policy: { zeroDataRetention: true } },
  },
  listRepos: { call: (c) => c.listRepos(), sends: 'GET /v1/repos', answer: { repos: [repo] } },
  selectRepo: {
    call: (c) => c.selectRepo({ fullName: 'o/a' }),
    sends: 'POST /v1/repos',
    body: { fullName: 'o/a' },
    answer: { repo },
  },
  listSecrets: { call: (c) => c.listSecrets(), sends: 'GET /v1/secrets', answer: { secrets: [{ name: 'A' }] } },
  updateSecrets: {
    call: (c) => c.updateSecrets({ set: { A: 'b' }, unset: ['C'] }),
    sends: 'POST /v1/secrets',
    body: { set: { A: 'b' }, unset: ['C'] },
    answer: { secrets: [{ name: 'A' }] },
  },
  getDeletionOperation: {
    call: (c) => c.getDeletionOperation('del_1'),
    sends: 'GET /v1/deletion-operations/del_1',
    answer: { operation: { id: 'del_1', status: 'pending' } },
  },
  listEnvironments: {
    call: (c) => c.listEnvironments(),
    sends: 'GET /v1/environments',
    answer: { environments: [environment] },
  },
  updateEnvironment: {
    call: (c) => c.updateEnvironment('env-1', { name: 'other' }),
    sends: 'PUT /v1/environments/env-1',
    body: { name: 'other' },
    answer: { environment },
  },
  upgradeEnvironment: {
    call: (c) => c.upgradeEnvironment('env-1', { agentIds: [id] }),
    sends: 'POST /v1/environments/env-1/upgrade',
    body: { agentIds: [id] },
    answer: { upgraded: 1, failed: 0 },
  },
  createWebhook: {
    call: (c) => c.createWebhook({ name: 'n', url: 'https://a.example/', events: ['sandbox.ready'] }),
    sends: 'POST /v1/webhooks',
    body: { events: ['sandbox.ready'], name: 'n', url: 'https://a.example/' },
    answer: { webhook, secret: 'whsec_1' },
  },
  listWebhooks: { call: (c) => c.listWebhooks(), sends: 'GET /v1/webhooks', answer: { webhooks: [webhook] } },
  getWebhook: { call: (c) => c.getWebhook('wh_1'), sends: 'GET /v1/webhooks/wh_1', answer: { webhook } },
  updateWebhook: {
    call: (c) => c.updateWebhook('wh_1', { name: 'm' }),
    sends: 'PATCH /v1/webhooks/wh_1',
    body: { name: 'm' },
    answer: { webhook },
  },
  deleteWebhook: { call: (c) => c.deleteWebhook('wh_1'), sends: 'DELETE /v1/webhooks/wh_1', answer: {} },
  rotateWebhookSecret: {
    call: (c) => c.rotateWebhookSecret('wh_1'),
    sends: 'POST /v1/webhooks/wh_1/rotate',
    answer: { webhook, secret: 'whsec_2' },
  },
  listApiKeys: { call: (c) => c.listApiKeys(), sends: 'GET /v1/api-keys', answer: { apiKeys: [{ id: 'sak_1' }] } },
  createApiKey: {
    call: (c) => c.createApiKey({ name: 'ci', preset: 'ci' }),
    sends: 'POST /v1/api-keys/scoped',
    body: { name: 'ci', preset: 'ci' },
    answer: { apiKey: { id: 'sak_1' }, secret: 'key_1' },
  },
  getApiKeyUsage: {
    call: (c) => c.getApiKeyUsage('sak_1'),
    sends: 'GET /v1/api-keys/sak_1/usage',
    answer: { usage: { requests: 3 }, resources: { total: 1 } },
  },
  rotateApiKey: {
    call: (c) => c.rotateApiKey('sak_1'),
    sends: 'POST /v1/api-keys/sak_1/rotate',
    answer: { apiKey: { id: 'sak_1' }, secret: 'key_2' },
  },
  revokeApiKey: {
    call: (c) => c.revokeApiKey('sak_1'),
    sends: 'DELETE /v1/api-keys/sak_1',
    answer: { apiKey: { id: 'sak_1' } },
  },
} as const satisfies Record<string, Row>;
