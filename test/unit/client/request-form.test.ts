/** Requests to a service that differs from the specification where that leaves room. Unit, 1 s. */
import { afterEach, expect, it } from 'vitest';
import { idempotencyKeyIn } from '../../../src/client/request-form.js';
import type { RequestForm } from '../../../src/contract/request-form.js';
import { aSandbox, createClosing, type SeenRequest, sendJson, startStand } from './http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;

/** What a create, a fork, a renewal, a prompt and a delete send. */
async function sentIn(form: RequestForm): Promise<Record<string, SeenRequest>> {
  const stand = closing.keep(
    await startStand(({ method, url }, response) => {
      if (url.endsWith('/prompt')) sendJson(response, 202, { ok: true, type: 'prompt', conversationId: 'cv_1' });
      else if (method === 'DELETE') sendJson(response, 202, { ok: true, type: 'deletion', operationId: 'op_1' });
      else sendJson(response, method === 'PATCH' ? 200 : 202, { ok: true, type: 'sandbox', sandbox: aSandbox });
    }),
  );
  const api = closing.client(stand, form);
  const { id } = aSandbox;
  await api.createSandbox({ name: 'n', ttlSeconds: 60 }, { idempotencyKey: 'run-main-1' });
  await api.forkSandbox('bx_3333aaaa', { name: 'n' }, { idempotencyKey: 'run-main-1' });
  await api.updateSandbox(id, { name: 'n', ttlSeconds: 60 });
  await api.sendPrompt(id, { prompt: 'x' });
  await api.deleteSandbox(id);
  const names = ['create', 'fork', 'update', 'prompt', 'delete'];
  return Object.fromEntries(stand.seen.map((request, at) => [names[at] ?? '', request]));
}

it('by default, requests are those that the specification shows', async () => {
  const sent = await sentIn({});
  expect(JSON.parse(sent.create?.body ?? '')).toEqual({ name: 'n', ttlSeconds: 60 });
  expect(sent.create?.headers['idempotency-key']).toBe('run-main-1');
  expect(sent.delete?.headers['x-svc-confirm-delete']).toBe(aSandbox.id);
});

it('a create and a fork leave out what the service refuses, and a change of a sandbox does not', async () => {
  const sent = await sentIn({ omit: ['name', 'ttlSeconds'] });
  const bodies = Object.fromEntries(Object.entries(sent).map(([call, { body }]) => [call, body && JSON.parse(body)]));
  expect(bodies).toMatchObject({
    create: {},
    fork: {},
    update: { name: 'n', ttlSeconds: 60 },
    prompt: { prompt: 'x' },
  });
  expect(bodies.create).toEqual({});
});

it('a delete is confirmed by a header of the family of the service', async () => {
  const { headers = {} } = (await sentIn({ headerPrefix: 'X-Box-' })).delete ?? {};
  expect(Object.entries(headers).filter(([name]) => name.endsWith('-confirm-delete'))).toEqual([
    ['x-box-confirm-delete', aSandbox.id],
  ]);
});

it('an idempotency key can be a UUID: the same for the same key, another for another, and a UUID as it is', async () => {
  const sent = await sentIn({ uuidKeys: true });
  expect(sent.create?.headers['idempotency-key']).toMatch(uuidPattern);
  expect(sent.fork?.headers['idempotency-key']).toBe(sent.create?.headers['idempotency-key']);
  const keys = ['run-main-1', 'run-main-2', 'run-main-11', 'other-main-1'].map((key) =>
    idempotencyKeyIn({ uuidKeys: true }, key),
  );
  expect(new Set(keys).size).toBe(keys.length);
  const uuid = '0198c6e0-0000-7000-8000-000000000001';
  expect(idempotencyKeyIn({ uuidKeys: true }, uuid)).toBe(uuid);
});
