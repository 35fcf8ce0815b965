import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';
import { register, startReceiver } from './webhook-receiver.js';

const url = 'https://hooks.example.com/sandbox';
const events = ['sandbox.ready'];

test('a webhook is registered, read, edited and deleted; its secret shows on create and rotate only', async () => {
  const under = await startService();
  const created = await under.call('POST', '/webhooks', { body: { name: 'a', url, events } });
  expect(created).toMatchObject({
    status: 201,
    body: { type: 'webhook.created', webhook: { name: 'a', url, events } },
  });
  expect(created.body.secret).toMatch(/^whsec_.{40,}$/);
  const path = `/webhooks/${created.body.webhook.id}`;
  expect(created.body.webhook.id).toMatch(/^wh_[0-9a-f]{24}$/);
  const edited = await under.call('PATCH', path, { body: { name: 'b', events: ['sandbox.error', 'sandbox.error'] } });
  expect(edited.body.webhook).toMatchObject({ name: 'b', url, events: ['sandbox.error'] });
  const rotated = await under.call('POST', `${path}/rotate`);
  expect(rotated.body).toMatchObject({ type: 'webhook.rotated', secret: expect.stringMatching(/^whsec_/) });
  expect(rotated.body.secret).not.toBe(created.body.secret);
  for (const read of [edited, await under.call('GET', path), await under.call('GET', '/webhooks')]) {
    expect(read.text).not.toContain('whsec_');
  }
  expect((await under.call('DELETE', path)).body.type).toBe('webhook.deleted');
  expect((await under.call('GET', path)).status).toBe(404);
});

test('S9: an account has at most ten webhooks', async () => {
  const under = await startService();
  for (let index = 0; index < 10; index++) await register(under, url);
  const refused = await under.call('POST', '/webhooks', { body: { name: 'x', url, events } });
  expect(refused).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
});

test.each([
  ['http://hooks.example.com/'],
  ['https://hooks.example.com:8443/'],
  ['https://10.0.0.8/'],
  ['https://169.254.169.254/latest'],
  ['https://[::1]/'],
  ['https://[::ffff:127.0.0.1]/'],
  ['https://[fd00::1]/'],
  ['https://localhost/'],
  ['https://user:word@hooks.example.com/'],
  ['http://127.0.0.1.example.com/'],
  ['ftp://127.0.0.1/'],
  ['not a url'],
])('S9: the webhook URL %s is refused', async (refusedUrl) => {
  const under = await startService();
  const refused = await under.call('POST', '/webhooks', { body: { name: 'x', url: refusedUrl, events } });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_url' } });
});

test('S9: loopback addresses are taken in local mode and refused in strict mode', async () => {
  const local = await startService();
  const strict = await startService({ strictWebhookUrls: true });
  for (const loopback of ['http://127.0.0.1:9/', 'http://[::1]:9/', 'http://localhost:9/']) {
    const body = { name: 'x', url: loopback, events };
    expect((await local.call('POST', '/webhooks', { body })).status).toBe(201);
    expect(await strict.call('POST', '/webhooks', { body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_url' },
    });
  }
});

test('a webhook must name at least one known event', async () => {
  const under = await startService();
  for (const wrong of [[], ['sandbox.started'], 'sandbox.ready', undefined]) {
    const refused = await under.call('POST', '/webhooks', { body: { name: 'x', url, events: wrong } });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  }
});

test('a webhook gets only the events that it has subscribed to', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  await register(under, receiver.url, ['sandbox.archived']);
  const id = await under.ready();
  await under.archive(id);
  await receiver.waitFor(1);
  expect(receiver.received.map(({ body }) => body.type)).toEqual(['sandbox.archived']);
});
