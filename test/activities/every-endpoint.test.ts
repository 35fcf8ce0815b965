import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Endpoint, type EndpointName, endpoints } from '../../src/contract/endpoints/endpoints.js';
import { aSandbox, sendJson } from '../unit/client/http-harness.js';
import { accountRows } from '../unit/client/rows/account-rows.js';
import { id, type Row } from '../unit/client/rows/row.js';
import { sandboxRows } from '../unit/client/rows/sandbox-rows.js';
import { workRows } from '../unit/client/rows/work-rows.js';
import { type ActivityStand, createActivityStand } from './activity-harness.js';

const rows: Record<EndpointName, Row> = { ...accountRows, ...sandboxRows, ...workRows };
const keyed = { idempotencyKey: 'k', firstSentAtMs: Date.now(), lookFirst: false };
const webhookBody = { name: 'n', url: 'https://a.example/', events: ['sandbox.ready'] };
const promptQuery = {
  ...{ sandboxId: id, conversationId: null, knownPromptIds: [], knownConversationIds: [] },
  ...{ recordKey: 'sent/0', isOwnSandbox: true, sandboxMadeAt: null },
};
const canary = 'canary-of-a-secret';
const environmentSecrets = { envContents: `A=${canary}`, secretFiles: [{ path: 'a', contents: canary }] };
const sandboxSecrets = { desktopUrl: canary, url: canary };
/** Fields of each record that may be secret: by the specification, or if a service were careless. */
const secretFields: Readonly<Record<string, object>> = {
  ...{ sandbox: sandboxSecrets, sandboxes: sandboxSecrets },
  ...{ environment: environmentSecrets, environments: environmentSecrets },
  ...{ webhook: { secret: canary }, webhooks: { secret: canary } },
  ...{ apiKey: { secret: canary }, apiKeys: { secret: canary }, secrets: { value: canary } },
};

/** The input of each activity. The type makes an endpoint without an activity a compile error, or a failed test. */
const inputs: Record<EndpointName, readonly unknown[]> = {
  ...{ getMe: [], listProviderModels: [], getLimits: [], getDataRetention: [], listRepos: [], listSecrets: [] },
  ...{ listEnvironments: [], listWebhooks: [], listApiKeys: [], listSandboxes: [], listSnapshots: [] },
  updateDataRetention: [{ zeroDataRetention: true }],
  selectRepo: [{ fullName: 'o/a' }],
  updateSecrets: [{ set: { A: { secretRef: 'secret-store:given' } } }],
  getDeletionOperation: ['del_1'],
  updateEnvironment: [{ environmentId: 'env-1', body: {}, envContentsRef: 'secret-store:given' }],
  upgradeEnvironment: ['env-1'],
  createWebhook: [webhookBody],
  getWebhook: ['wh_1'],
  updateWebhook: ['wh_1', { name: 'm' }],
  deleteWebhook: ['wh_1'],
  rotateWebhookSecret: ['wh_1'],
  createApiKey: [{ name: 'ci' }],
  ...{ getApiKeyUsage: ['sak_1'], rotateApiKey: ['sak_1'], revokeApiKey: ['sak_1'] },
  createSandbox: [{ ...keyed, body: { name: 'demo' } }],
  forkSandbox: [{ ...keyed, sandboxId: id, body: { name: 'demo' } }],
  ...{ getSandbox: [id], deleteSandbox: [id], getSandboxUsage: [id], shareSandbox: [id], unshareSandbox: [id] },
  updateSandbox: [id, { name: 'new' }],
  stopSandbox: [{ sandboxId: id }],
  getStop: [id, 'stop_1'],
  resumeSandbox: [{ sandboxId: id, body: {}, previousStopId: null }],
  sendPrompt: [{ query: promptQuery, body: { prompt: 'x' }, earlier: 'ask_record' }],
  getPrompt: [id, 'prm_1'],
  listEvents: [id],
  interruptSandbox: [id, null],
  readFile: [id, { path: 'a', key: 'read' }],
  writeFile: [id, { path: 'a', content: 'x' }],
  runCommand: [{ sandboxId: id, body: { command: 'true' } }],
  listProcesses: [id],
  downloadArtifact: [id, { path: 'a', key: 'artifact' }],
  openDesktop: [id],
  setSshKey: [id, 'ssh-ed25519 AAAA'],
  ...{ listSandboxSnapshots: [id], getLatestSnapshot: [id], getSnapshotTree: ['snap_1'], deleteSnapshot: ['snap_1'] },
  downloadSnapshotFile: ['snap_1', { path: 'a', key: 'file' }],
  downloadSnapshot: ['snap_1', 'whole'],
};

/** The answer of a row, with a secret in every possible field. */
function withSecrets(name: EndpointName): Record<string, unknown> {
  const answer = rows[name].answer ?? {};
  const records = Object.entries(answer).map(([key, value]) => {
    if (key === 'secret' || key === 'url') return [key, canary];
    const added = secretFields[key];
    if (!added) return [key, value];
    return [key, Array.isArray(value) ? value.map((one) => ({ ...one, ...added })) : { ...Object(value), ...added }];
  });
  return Object.fromEntries(records);
}

let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand();
  await stand.secrets.put('given', canary);
});
afterAll(() => stand.close());

describe('the activities', () => {
  it.each(Object.keys(endpoints) as EndpointName[])(
    '%s has an activity, and no secret reaches Temporal',
    async (name) => {
      const { method, path, raw, type, status }: Endpoint = endpoints[name];
      // For the class `read-first`: the read before the call returns a record that fits it.
      const sandbox = { ...aSandbox, state: name === 'resumeSandbox' ? 'archived' : 'ready' };
      stand.answer((request, response) => {
        if (raw) return void response.end('bytes');
        const ownPath = request.url.split('?')[0] === rows[name].sends.split(' ')[1]?.split('?')[0];
        const own = request.method === method && ownPath;
        sendJson(response, own ? status : 200, {
          ok: true,
          type,
          ...(own ? withSecrets(name) : { webhooks: [], apiKeys: [], events: [], sandbox }),
        });
      });
      await stand.run(name, ...inputs[name]);
      const matched = stand.seen().filter((line) => line.split('?')[0] === rows[name].sends.split('?')[0]);
      expect(matched, path).toHaveLength(1);
      expect(await stand.history()).not.toContain(canary);
    },
  );

  it('client rows: listSandboxes has the cost on request', async () => {
    const cost = { since: '2026-01-01T00:00:00.000Z', seconds: 3_600, dollars: 0.5 };
    stand.answer((_, response) => sendJson(response, 200, { ok: true, sandboxes: [{ ...aSandbox, cost }] }));
    const listed = await stand.run('listSandboxes', { include: 'cost' });
    expect(stand.seen()).toEqual(['GET /v1/sandboxes?include=cost']);
    expect(listed).toMatchObject({ value: [{ id: aSandbox.id, cost: { seconds: 3_600, dollars: 0.5 } }] });
  });
});
