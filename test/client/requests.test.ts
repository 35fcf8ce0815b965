import { afterEach, describe, expect, it } from 'vitest';
import type { SandboxClient } from '../../src/client/index.js';
import { type EndpointName, endpoints } from '../../src/contract/endpoints.js';
import { aSandbox, createClosing, sendJson, startStand } from './http-stand.js';

const closing = createClosing();
afterEach(closing.closeAll);

const id = 'bx_23456789';
const stop = { id: 'stop_1', status: 'pending' };
const webhook = { id: 'wh_1', url: 'https://a.example/', events: ['sandbox.ready'] };
const operation = { id: 'del_1', status: 'pending' };

interface Row {
  readonly call: (client: SandboxClient) => Promise<unknown>;
  readonly sends: string;
  readonly body?: unknown;
  readonly answer: Record<string, unknown>;
}

/** The type makes an endpoint without a row a compile error. */
const rows: Record<EndpointName, Row> = {
  getMe: { call: (c) => c.getMe(), sends: 'GET /v1/me', answer: { user: { login: 'ada' } } },
  listProviderModels: {
    call: (c) => c.listProviderModels(),
    sends: 'GET /v1/provider-models',
    answer: { providers: [{ provider: 'pi' }] },
  },
  getDeletionOperation: {
    call: (c) => c.getDeletionOperation('del_1'),
    sends: 'GET /v1/deletion-operations/del_1',
    answer: { operation },
  },
  listSandboxes: {
    call: (c) => c.listSandboxes({ include: 'cost', limit: 5, cursor: undefined }),
    sends: 'GET /v1/sandboxes?include=cost&limit=5',
    answer: { sandboxes: [aSandbox] },
  },
  createSandbox: {
    call: (c) => c.createSandbox({ name: 'demo', ttlSeconds: null }),
    sends: 'POST /v1/sandboxes',
    body: { name: 'demo', ttlSeconds: null },
    answer: { sandbox: aSandbox },
  },
  getSandbox: { call: (c) => c.getSandbox(id), sends: `GET /v1/sandboxes/${id}`, answer: { sandbox: aSandbox } },
  updateSandbox: {
    call: (c) => c.updateSandbox(id, { name: 'new' }),
    sends: `PATCH /v1/sandboxes/${id}`,
    body: { name: 'new' },
    answer: { sandbox: aSandbox },
  },
  deleteSandbox: {
    call: (c) => c.deleteSandbox(id),
    sends: `DELETE /v1/sandboxes/${id}`,
    answer: { operationId: 'del_1', operation },
  },
  stopSandbox: {
    call: (c) => c.stopSandbox(id),
    sends: `POST /v1/sandboxes/${id}/stop`,
    answer: { id: 'stop_1', stop },
  },
  getStop: {
    call: (c) => c.getStop(id, 'stop_1'),
    sends: `GET /v1/sandboxes/${id}/stops/stop_1`,
    answer: { id: 'stop_1', stop },
  },
  resumeSandbox: {
    call: (c) => c.resumeSandbox(id, { type: 'large' }),
    sends: `POST /v1/sandboxes/${id}/resume`,
    body: { type: 'large' },
    answer: { sandbox: aSandbox },
  },
  sendPrompt: {
    call: (c) => c.sendPrompt(id, { prompt: 'hello', new: true }),
    sends: `POST /v1/sandboxes/${id}/prompt`,
    body: { new: true, prompt: 'hello' },
    answer: { promptId: 'prm_1', conversationId: 'conv_1' },
  },
  getPrompt: {
    call: (c) => c.getPrompt(id, 'prm_1'),
    sends: `GET /v1/sandboxes/${id}/prompts/prm_1`,
    answer: { prompt: { id: 'prm_1', status: 'queued' } },
  },
  listEvents: {
    call: (c) => c.listEvents(id, { conversation: 'conv_1', after: 'sev_1' }),
    sends: `GET /v1/sandboxes/${id}/events?conversation=conv_1&after=sev_1`,
    answer: { events: [] },
  },
  interruptSandbox: {
    call: (c) => c.interruptSandbox(id, { conversation: 'conv_1' }),
    sends: `POST /v1/sandboxes/${id}/interrupt?conversation=conv_1`,
    answer: { interrupted: 1 },
  },
  readFile: {
    call: (c) => c.readFile(id, 'a b/ü&c'),
    sends: `GET /v1/sandboxes/${id}/files?path=a+b%2F%C3%BC%26c`,
    answer: { path: 'a b/ü&c', encoding: 'utf8', content: 'x', size: 1 },
  },
  writeFile: {
    call: (c) => c.writeFile(id, { path: 'a', content: 'ü' }),
    sends: `PUT /v1/sandboxes/${id}/files`,
    body: { content: 'ü', path: 'a' },
    answer: { path: 'a', size: 2 },
  },
  runCommand: {
    call: (c) => c.runCommand(id, { command: 'true' }),
    sends: `POST /v1/sandboxes/${id}/commands`,
    body: { command: 'true' },
    answer: { exitCode: 0, stdout: '', stderr: '' },
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
};

describe('each method', () => {
  it.each(Object.entries(rows))(
    '%s sends its row of the contract and resolves to the whole body',
    async (name, row) => {
      const { status, type } = endpoints[name as EndpointName];
      const answer = { ok: true, type, ...row.answer };
      const stand = closing.keep(await startStand((_, response) => sendJson(response, status, answer)));

      await expect(row.call(closing.client(stand))).resolves.toEqual(answer);

      expect(stand.seen).toHaveLength(1);
      const [request] = stand.seen;
      expect(`${request?.method} ${request?.url}`).toBe(row.sends);
      expect(request?.headers.authorization).toBe('Bearer key_secret');
      expect(request?.body).toBe(row.body === undefined ? '' : JSON.stringify(row.body));
      expect(request?.headers['content-type']).toBe(row.body === undefined ? undefined : 'application/json');
      expect(request?.headers['x-svc-confirm-delete']).toBe(name === 'deleteSandbox' ? id : undefined);
    },
  );
});

describe('requests', () => {
  const ok = { ok: true, type: 'sandbox.created', sandbox: aSandbox };

  it('S4: two bodies that differ only in key order and undefined fields are the same bytes', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 202, ok)));
    const client = closing.client(stand);
    await client.createSandbox({ ttlSeconds: 60, name: 'a', setupScript: undefined }, { idempotencyKey: 'k-1' });
    await client.createSandbox({ name: 'a', ttlSeconds: 60 }, { idempotencyKey: 'k-1' });
    expect(stand.seen.map((request) => request.body)).toEqual(Array(2).fill('{"name":"a","ttlSeconds":60}'));
    expect(stand.seen.map((request) => request.headers['idempotency-key'])).toEqual(['k-1', 'k-1']);
  });

  it('asks for the key again at each call', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, ok)));
    const keys = ['first', 'second\n'];
    const client = closing.client(stand, { apiKey: async () => keys.shift() ?? '' });
    await client.getSandbox(id);
    await client.getSandbox(id);
    expect(stand.seen.map((request) => request.headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
    await expect(client.getSandbox(id)).rejects.toMatchObject({ code: 'bad_api_key' });
    expect(stand.seen).toHaveLength(2);
  });

  it('escapes ids and refuses those that would address something else', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, ok)));
    const client = closing.client(stand);
    await client.getSandbox('a/b?c');
    expect(stand.seen[0]?.url).toBe('/v1/sandboxes/a%2Fb%3Fc');
    for (const empty of ['', '.', '..']) {
      await expect(client.deleteSandbox(empty)).rejects.toMatchObject({ code: 'bad_argument' });
    }
    await expect(client.createSandbox({}, { idempotencyKey: 'a\nb' })).rejects.toMatchObject({ code: 'bad_argument' });
    expect(stand.seen).toHaveLength(1);
  });

  it('keeps its connections between calls', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, ok)));
    const client = closing.client(stand);
    for (let call = 0; call < 20; call++) await client.getSandbox(id);
    // Two, since a call that follows at once comes before the pool knows that the first connection is free again.
    expect(stand.sockets()).toBeLessThanOrEqual(2);
  });

  it('reports each call without its payload', async () => {
    const records: unknown[] = [];
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, ok)));
    const client = closing.client(stand, { onCall: (record) => records.push(record) });
    await client.getSandbox(id);
    const numbers = { startedAt: expect.any(Number), durationMs: expect.any(Number) };
    expect(records).toEqual([{ endpoint: 'getSandbox', status: 200, errorCode: null, requestId: null, ...numbers }]);
  });

  it('refuses a base URL that is none', () => {
    expect(() => closing.client({ url: 'sandbox' })).toThrow(/base URL/);
    expect(() => closing.client({ url: 'ftp://a/v1' })).toThrow(/https/);
  });
});
