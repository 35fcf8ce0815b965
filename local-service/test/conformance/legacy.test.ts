import { expect } from 'vitest';
import { isSignedWith, startReceiver } from '../service/webhooks/receiver.js';
import { rule } from './rule.js';
import { type LocalTarget, startLocalTarget } from './target/index.js';

/** The fields of answers that tests read, in the legacy vocabulary. */
interface LegacyBody {
  readonly type: string;
  readonly box: { readonly id: string };
  readonly promptId: string;
  readonly prompt: object;
  readonly secret: string;
  readonly webhook: { readonly id: string; readonly events: readonly string[] };
}

interface Legacy {
  readonly status: number;
  readonly headers: Headers;
  readonly body: LegacyBody;
}

async function legacyCall(local: LocalTarget, method: string, path: string, options: object = {}): Promise<Legacy> {
  const { status, headers, body } = await local.call(method, path, { ...options, base: local.service.legacyUrl });
  return { status, headers, body: body as unknown as LegacyBody };
}

const local = { needs: ['local'] } as const;

rule(
  ['legacy.base', 'legacy.keys', 'legacy.types', 'legacy.unchanged-ids', 'legacy.unchanged-data'],
  'a box is created, read, listed and forked on the legacy surface, and is a sandbox on the current one',
  async () => {
    const target = await startLocalTarget();
    const made = await legacyCall(target, 'POST', '/boxes', { body: { name: 'sandbox.ready' } });
    expect(made).toMatchObject({
      status: 202,
      body: { ok: true, type: 'box.created', box: { name: 'sandbox.ready' } },
    });
    const { id } = made.body.box;
    expect(id).toMatch(/^bx_/);
    expect((await target.reach(id, 'ready')).name).toBe('sandbox.ready');
    expect((await legacyCall(target, 'GET', `/boxes/${id}`)).body).toMatchObject({ type: 'box.info', box: { id } });
    expect((await legacyCall(target, 'GET', '/boxes')).body).toMatchObject({ type: 'box.list', boxes: [{ id }] });
    const fork = await legacyCall(target, 'POST', `/boxes/${id}/fork`);
    expect(fork).toMatchObject({ status: 202, body: { type: 'box.created', sourceBoxId: id } });
    const prompt = await legacyCall(target, 'POST', `/boxes/${id}/prompt`, { body: { prompt: 'x' } });
    const read = await legacyCall(target, 'GET', `/boxes/${id}/prompts/${prompt.body.promptId}`);
    expect(read.body.prompt).toMatchObject({ boxId: id });
    for (const { body } of [made, fork, read]) expect(JSON.stringify(body)).not.toMatch(/"\w*[sS]andbox\w*":/);
  },
  local,
);

rule(
  ['legacy.base', 'versioning.current-vocabulary', 'versioning.v1'],
  'neither surface knows the paths of the other',
  async () => {
    const target = await startLocalTarget();
    expect(target.service.url).toMatch(/\/v1$/);
    expect((await target.call('GET', '/boxes')).status).toBe(404);
    expect(await legacyCall(target, 'GET', '/sandboxes')).toMatchObject({ status: 404, body: { type: 'box.error' } });
    expect(await legacyCall(target, 'GET', '/me')).toMatchObject({ status: 200, body: { type: 'user.info' } });
  },
  local,
);

rule(
  ['legacy.error-codes', 'legacy.types'],
  'legacy errors have legacy codes and the legacy type, in both places',
  async () => {
    const target = await startLocalTarget({ timings: { bootMs: 60_000 } });
    const id = await target.create();
    const refused = await legacyCall(target, 'POST', `/boxes/${id}/prompt`, { body: { prompt: 'x' } });
    expect(refused).toMatchObject({
      status: 409,
      body: { ok: false, type: 'box.error', code: 'box_not_promptable', error: { code: 'box_not_promptable' } },
    });
    const unknown = await legacyCall(target, 'GET', '/boxes/bx_22222222');
    expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found', error: { code: 'not_found' } } });
  },
  local,
);

rule(
  ['legacy.sunset', 'legacy.still-answered'],
  'every legacy answer has a Sunset of October 31, including a refusal and one after that day, and none is 410',
  async () => {
    const target = await startLocalTarget();
    const sunsetOf = async (path: string, options: object = {}) => {
      const { status, headers } = await legacyCall(target, 'GET', path, options);
      expect(status).not.toBe(410);
      return headers.get('sunset') ?? '';
    };
    const calls = [
      sunsetOf('/boxes'),
      sunsetOf('/boxes/bx_22222222'),
      sunsetOf('/nothing'),
      sunsetOf('/me', { key: null }),
    ];
    for (const sunset of await Promise.all(calls)) expect(sunset).toMatch(/^\w{3}, 31 Oct \d{4} 23:59:59 GMT$/);
    const before = Date.parse(await sunsetOf('/boxes'));
    expect(before).toBeGreaterThan(target.service.clock.now());
    await target.service.clock.advance(before - target.service.clock.now() + 1_000);
    const after = new Date(await sunsetOf('/boxes'));
    expect(after.getUTCFullYear()).toBe(new Date(before).getUTCFullYear() + 1);
    expect((await target.call('GET', '/me')).headers.get('sunset')).toBeNull();
  },
  { needs: ['clock', 'local'] },
);

rule(
  'legacy.unchanged-headers',
  'an idempotency key is shared by both surfaces: the second create returns the first sandbox',
  async () => {
    const target = await startLocalTarget();
    const headers = { 'idempotency-key': 'one' };
    const body = { name: 'once' };
    const first = await legacyCall(target, 'POST', '/boxes', { body, headers });
    const second = await target.call('POST', '/sandboxes', { body, headers });
    expect(second.body.sandbox.id).toBe(first.body.box.id);
  },
  local,
);

const hook = (url: string, events: readonly string[]) => ({ body: { name: 'hook', url, events } });

rule(
  ['trap.S15', 'legacy.webhooks-deliver-box', 'legacy.webhooks-same-delivery', 'legacy.new-webhooks-deliver-sandbox'],
  'a webhook delivers in the vocabulary of the surface that created it, signed the same way',
  async () => {
    const target = await startLocalTarget();
    const [old, now] = [
      await startReceiver((response, _delivery, number) => void response.writeHead(number === 1 ? 500 : 204).end()),
      await startReceiver(),
    ];
    const made = await legacyCall(target, 'POST', '/webhooks', hook(old.url, ['box.ready', 'box.archived']));
    expect(made).toMatchObject({ status: 201, body: { webhook: { events: ['box.ready', 'box.archived'] } } });
    await target.call('POST', '/webhooks', hook(now.url, ['sandbox.ready']));
    const id = await target.ready({ name: 'sandbox.ready' });
    // The first attempt was refused, so the second is a retry with the same content.
    const deliveries = await old.waitFor(2, { type: 'box.ready' });
    for (const delivery of deliveries) {
      const { headers, body } = delivery;
      expect(headers).toMatchObject({ 'x-svc-event': 'box.ready', 'x-svc-delivery': body.id });
      expect(body).toEqual({
        id: body.id,
        type: 'box.ready',
        createdAt: body.createdAt,
        data: { box: { id, name: 'sandbox.ready' }, previousState: 'provisioned', state: 'ready' },
      });
      expect(isSignedWith(made.body.secret, delivery)).toBe(true);
    }
    expect(deliveries[1]?.rawBody.equals(deliveries[0]?.rawBody ?? Buffer.alloc(0))).toBe(true);
    const [current] = await now.waitFor(1);
    expect(current).toMatchObject({
      headers: { 'x-svc-event': 'sandbox.ready' },
      body: { type: 'sandbox.ready', data: { sandbox: { id } } },
    });
    expect(current?.body.id).toBe(deliveries[0]?.body.id);
  },
  local,
);

rule(
  ['legacy.webhooks-deliver-box', 'legacy.unchanged-data'],
  'a legacy webhook that is edited on the current surface continues to deliver box events',
  async () => {
    const target = await startLocalTarget();
    const receiver = await startReceiver();
    const made = await legacyCall(target, 'POST', '/webhooks', hook(receiver.url, ['box.error']));
    const path = `/webhooks/${made.body.webhook.id}`;
    const edited = await target.call('PATCH', path, { body: { events: ['sandbox.ready'] } });
    expect(edited.body.webhook.events).toEqual(['sandbox.ready']);
    expect((await legacyCall(target, 'GET', path)).body.webhook.events).toEqual(['box.ready']);
    await target.ready();
    await receiver.waitFor(1, { type: 'box.ready' });
    expect(await legacyCall(target, 'PATCH', path, { body: { events: ['sandbox.ready'] } })).toMatchObject({
      status: 400,
    });
  },
  local,
);

rule(
  ['legacy.base', 'legacy.types'],
  'a wrong method and a wrong path give different errors there too',
  async () => {
    const target = await startLocalTarget();
    const refused = await legacyCall(target, 'PUT', '/boxes');
    expect(refused).toMatchObject({ status: 405, body: { type: 'box.error' } });
    expect(refused.headers.get('allow')).toBe('GET, POST, HEAD');
  },
  local,
);
