import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';
import { isSignedWith, register, startReceiver } from './webhook-receiver.js';

test('S10: a delivery carries all five headers, and its signature covers id, time and the exact bytes', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  const { secret } = await register(under, receiver.url);
  const id = await under.ready({ name: 'Ünïcode' });
  const [delivery] = await receiver.waitFor(1, { sandboxId: id });
  expect(delivery?.headers).toMatchObject({
    'x-svc-event': 'sandbox.ready',
    'x-svc-delivery': delivery?.body.id,
    'x-svc-timestamp': expect.stringMatching(/^[0-9]{10}$/),
    'x-svc-signature': expect.stringMatching(/^v1=[0-9a-f]{64}$/),
    'x-svc-attempt': '1',
  });
  expect(delivery?.body.id).toMatch(/^evt_[0-9a-f]{32}$/);
  expect(delivery && isSignedWith(secret, delivery)).toBe(true);
  expect(delivery && isSignedWith('whsec_of_somebody_else', delivery)).toBe(false);
});

test('S10: after a rotation deliveries are signed with the new secret', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  const { id: webhookId, secret: old } = await register(under, receiver.url);
  const { body } = await under.call('POST', `/webhooks/${webhookId}/rotate`);
  await under.ready();
  const [delivery] = await receiver.waitFor(1);
  expect(delivery && isSignedWith(body.secret, delivery)).toBe(true);
  expect(delivery && isSignedWith(old, delivery)).toBe(false);
});

test('S9: a refused delivery is retried with growing delays, eight attempts in all, under one id', async () => {
  const under = await startService({ timings: { webhookRetryMs: 4 } });
  const receiver = await startReceiver((response) => void response.writeHead(500).end());
  await register(under, receiver.url, ['sandbox.ready']);
  const id = await under.ready();
  const deliveries = await receiver.waitFor(8);
  const attempts = () => under.service.books.deliveries({ sandboxId: id });
  await expect.poll(() => attempts().length).toBe(8);
  expect(under.service.books.summary().queuedDeliveries).toBe(0);
  expect(new Set(deliveries.map(({ body }) => body.id)).size).toBe(1);
  expect(deliveries.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
  const gaps = attempts().map(({ sentAt }, index, all) => sentAt - (all[index - 1]?.sentAt ?? sentAt));
  for (let index = 1; index < 8; index++) expect(gaps[index]).toBeGreaterThanOrEqual(4 * 2 ** (index - 1) - 1);
});

test('S9: redirects are not followed and an endpoint that does not answer is given up in time', async () => {
  const under = await startService({ timings: { webhookTimeoutMs: 60, webhookRetryMs: 5 } });
  const target = await startReceiver();
  const receiver = await startReceiver((response, _delivery, number) => {
    if (number === 1) response.writeHead(307, { location: target.url }).end();
    else if (number > 2) response.writeHead(200).end();
  });
  await register(under, receiver.url, ['sandbox.ready']);
  const id = await under.ready();
  await receiver.waitFor(3);
  await expect
    .poll(() => under.service.books.deliveries({ sandboxId: id }))
    .toMatchObject([
      { attempt: 1, status: 307, error: null },
      { attempt: 2, status: null, error: 'no answer within 60 ms' },
      { attempt: 3, status: 200, error: null },
    ]);
  expect(target.received).toEqual([]);
});

test('S9: a slow endpoint holds up neither another one nor its own other events for long', async () => {
  const under = await startService({ timings: { webhookTimeoutMs: 60_000 } });
  const slow = await startReceiver(() => undefined);
  const quick = await startReceiver();
  await register(under, slow.url, ['sandbox.ready']);
  await register(under, quick.url, ['sandbox.ready']);
  await Promise.all(Array.from({ length: 20 }, () => under.ready()));
  await quick.waitFor(20);
  expect((await slow.waitFor(16)).length).toBe(16);
});

test('S9: deleting a webhook drops what is queued for it', async () => {
  const under = await startService({ timings: { webhookRetryMs: 60_000 } });
  const receiver = await startReceiver((response) => void response.writeHead(503).end());
  const { id: webhookId } = await register(under, receiver.url, ['sandbox.ready']);
  await under.ready();
  await receiver.waitFor(1);
  expect(under.service.books.summary().queuedDeliveries).toBe(1);
  await under.call('DELETE', `/webhooks/${webhookId}`);
  expect(under.service.books.summary().queuedDeliveries).toBe(0);
});

test('S8: the ready event can come before its caller has read the answer to create', async () => {
  const under = await startService({ timings: { bootMs: 0 } });
  const receiver = await startReceiver();
  await register(under, receiver.url, ['sandbox.ready']);
  await under.arm({ kind: 'drop_response', endpoint: 'createSandbox' });
  const create = under.call('POST', '/sandboxes', { body: { name: 'known-by-its-name' } });
  await expect(create).rejects.toThrow();
  const [ready] = await receiver.waitFor(1);
  expect(ready?.body.data.sandbox.name).toBe('known-by-its-name');
});
