import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

const url = 'https://hooks.example.com/sandbox';
const events = ['sandbox.ready'];

rule(
  [
    'webhooks.create',
    'webhooks.get',
    'webhooks.list',
    'webhooks.patch',
    'webhooks.rotate',
    'webhooks.id-form',
    'webhooks.fields',
    'webhooks.secret-prefix',
    'webhooks.secret-once',
  ],
  'a webhook is created, read, edited and deleted, and its secret shows on create and rotate only',
  async () => {
    const created = await target.call('POST', '/webhooks', { body: { name: 'a', url, events } });
    expect(created).toMatchObject({
      status: 201,
      body: { type: 'webhook.created', webhook: { name: 'a', url, events } },
    });
    expect(created.body.secret).toMatch(/^whsec_.{40,}$/);
    const path = `/webhooks/${created.body.webhook.id}`;
    expect(created.body.webhook.id).toMatch(/^wh_[0-9a-f]{24}$/);
    const edited = await target.call('PATCH', path, {
      body: { name: 'b', events: ['sandbox.error', 'sandbox.error'] },
    });
    expect(edited.body.webhook).toMatchObject({ name: 'b', url, events: ['sandbox.error'] });
    const rotated = await target.call('POST', `${path}/rotate`);
    expect(rotated.body).toMatchObject({ type: 'webhook.rotated', secret: expect.stringMatching(/^whsec_/) });
    expect(rotated.body.secret).not.toBe(created.body.secret);
    for (const read of [edited, await target.call('GET', path), await target.call('GET', '/webhooks')]) {
      expect(read.text).not.toContain('whsec_');
    }
    expect((await target.call('DELETE', path)).body.type).toBe('webhook.deleted');
    expect((await target.call('GET', path)).status).toBe(404);
  },
);

rule(
  ['trap.S9', 'webhooks.at-most-10'],
  'an account has at most ten webhooks',
  async () => {
    const local = await startLocalTarget();
    for (let index = 0; index < 10; index++) await register(local, url);
    const refused = await local.call('POST', '/webhooks', { body: { name: 'x', url, events } });
    expect(refused).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
  },
  // An account with existing webhooks would lose the rest of its ten.
  { needs: ['local'] },
);

const refusedUrls = [
  'http://hooks.example.com/',
  'https://hooks.example.com:8443/',
  'https://10.0.0.8/',
  'https://169.254.169.254/latest',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[fd00::1]/',
  'https://localhost/',
  'https://user:word@hooks.example.com/',
  'http://127.0.0.1.example.com/',
  'ftp://127.0.0.1/',
  'not a url',
];

rule(
  ['trap.S9', 'webhooks.https-443', 'delivery.https-443-only', 'delivery.public-addresses-only'],
  'a webhook URL that is not https, not on port 443, or not public is refused',
  async () => {
    for (const refusedUrl of refusedUrls) {
      const refused = await target.call('POST', '/webhooks', { body: { name: 'x', url: refusedUrl, events } });
      expect(refused, refusedUrl).toMatchObject({ status: 400, body: { code: 'invalid_url' } });
    }
  },
);

rule(
  ['trap.S9', 'delivery.public-addresses-only'],
  'loopback addresses are accepted in local mode and refused in strict mode',
  async () => {
    const local = await startLocalTarget();
    const strict = await startLocalTarget({ strictWebhookUrls: true });
    for (const loopback of ['http://127.0.0.1:9/', 'http://[::1]:9/', 'http://localhost:9/']) {
      const body = { name: 'x', url: loopback, events };
      expect((await local.call('POST', '/webhooks', { body })).status).toBe(201);
      expect(await strict.call('POST', '/webhooks', { body })).toMatchObject({
        status: 400,
        body: { code: 'invalid_url' },
      });
    }
  },
  { needs: ['local'] },
);

rule(
  ['webhooks.at-least-one-event', 'webhooks.known-events'],
  'a webhook must name at least one known event',
  async () => {
    for (const wrong of [[], ['sandbox.started'], 'sandbox.ready', undefined]) {
      const refused = await target.call('POST', '/webhooks', { body: { name: 'x', url, events: wrong } });
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    }
  },
);

rule(
  'webhooks.subscription',
  'a webhook receives only the events that it subscribes to',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.archived']);
    const id = await local.ready();
    await local.archive(id);
    await receiver.waitFor(1);
    expect(receiver.received.map(({ body }) => body.type)).toEqual(['sandbox.archived']);
  },
  { needs: ['local'] },
);
