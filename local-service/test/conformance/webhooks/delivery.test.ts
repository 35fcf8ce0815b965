import { expect } from 'vitest';
import { isSignedWith, register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget } from '../target/index.js';

rule(
  [
    'trap.S10',
    'headers.event',
    'headers.delivery',
    'headers.timestamp',
    'headers.signature',
    'headers.attempt',
    'signature.covers',
    'signature.hex-64',
    'payload.id',
  ],
  'a delivery has all five headers, and its signature covers id, time and the exact bytes',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    const { secret } = await register(local, receiver.url);
    const id = await local.ready({ name: 'Ünïcode' });
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
  },
  { needs: ['local'] },
);

rule(
  ['trap.S10', 'webhooks.rotate'],
  'after a rotation deliveries are signed with the new secret',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    const { id: webhookId, secret: old } = await register(local, receiver.url);
    const { body } = await local.call('POST', `/webhooks/${webhookId}/rotate`);
    await local.ready();
    const [delivery] = await receiver.waitFor(1);
    expect(delivery && isSignedWith(body.secret, delivery)).toBe(true);
    expect(delivery && isSignedWith(old, delivery)).toBe(false);
  },
  { needs: ['local'] },
);

rule(
  [
    'trap.S9',
    'delivery.retried-on-status',
    'delivery.back-off',
    'delivery.8-attempts',
    'delivery.at-least-once',
    'headers.attempt',
  ],
  'a refused delivery is retried with growing delays, eight attempts in total, with one id',
  async () => {
    const local = await startLocalTarget({ timings: { webhookRetryMs: 4 } });
    const receiver = await startReceiver((response) => void response.writeHead(500).end());
    await register(local, receiver.url, ['sandbox.ready']);
    const id = await local.ready();
    const deliveries = await receiver.waitFor(8);
    const attempts = () => local.service.books.deliveries({ sandboxId: id });
    await expect.poll(() => attempts().length).toBe(8);
    expect(local.service.books.summary().queuedDeliveries).toBe(0);
    expect(new Set(deliveries.map(({ body }) => body.id)).size).toBe(1);
    expect(deliveries.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
    const gaps = attempts().map(({ sentAt }, index, all) => sentAt - (all[index - 1]?.sentAt ?? sentAt));
    for (let index = 1; index < 8; index++) expect(gaps[index]).toBeGreaterThanOrEqual(4 * 2 ** (index - 1) - 1);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['trap.S9', 'delivery.no-redirects', 'delivery.timeout-5s', 'delivery.2xx-delivered'],
  'redirects are not followed, and an endpoint that does not answer is abandoned in time',
  async () => {
    const target = await startReceiver();
    const redirected = await startLocalTarget({ timings: { webhookTimeoutMs: 600_000 } });
    const redirecting = await startReceiver((response, _delivery, number) => {
      if (number === 1) response.writeHead(307, { location: target.url }).end();
      else response.writeHead(200).end();
    });
    await register(redirected, redirecting.url, ['sandbox.ready']);
    const id = await redirected.ready();
    await expect
      .poll(() => redirected.service.books.deliveries({ sandboxId: id }))
      .toMatchObject([
        { attempt: 1, status: 307, error: null },
        { attempt: 2, status: 200, error: null },
      ]);
    expect(target.received).toEqual([]);
    // Nobody ever answers this one, so a short time is enough.
    const abandoned = await startLocalTarget({ timings: { webhookTimeoutMs: 60, webhookRetryMs: 3_600_000 } });
    const silent = await startReceiver(() => undefined);
    await register(abandoned, silent.url, ['sandbox.ready']);
    await abandoned.ready({ ttlSeconds: null });
    const attempts = () => abandoned.service.books.deliveries();
    const late = { status: null, error: 'no answer within 60 ms' };
    await expect.poll(attempts).toMatchObject([{ attempt: 1, ...late }]);
    expect(abandoned.service.books.summary().queuedDeliveries).toBe(1);
    await abandoned.service.clock.advance(3_600_000);
    await expect.poll(attempts).toMatchObject([
      { attempt: 1, ...late },
      { attempt: 2, ...late },
    ]);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['trap.S9', 'delivery.timeout-5s'],
  'an endpoint that does not answer has five seconds before the next attempt',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver((response, _delivery, number) => {
      if (number > 1) response.writeHead(204).end();
    });
    await register(local, receiver.url, ['sandbox.ready']);
    await local.ready();
    await receiver.waitFor(2);
    const attempts = () => local.service.books.deliveries();
    await expect.poll(attempts).toMatchObject([{ error: 'no answer within 5000 ms' }, { status: 204 }]);
    const [first, second] = attempts();
    expect((second?.sentAt ?? 0) - (first?.sentAt ?? 0)).toBeGreaterThanOrEqual(4_900);
  },
  { needs: ['local'] },
);

rule(
  ['trap.S9', 'delivery.timeout-5s'],
  'a slow endpoint delays neither other endpoints nor its own other events for long',
  async () => {
    const local = await startLocalTarget({ timings: { webhookTimeoutMs: 60_000 } });
    const slow = await startReceiver(() => undefined);
    const quick = await startReceiver();
    await register(local, slow.url, ['sandbox.ready']);
    await register(local, quick.url, ['sandbox.ready']);
    await Promise.all(Array.from({ length: 20 }, () => local.ready()));
    await quick.waitFor(20);
    expect((await slow.waitFor(16)).length).toBe(16);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['trap.S9', 'webhooks.delete-drops-queue'],
  'deleting a webhook drops its queued deliveries',
  async () => {
    const local = await startLocalTarget({ timings: { webhookRetryMs: 60_000 } });
    const receiver = await startReceiver((response) => void response.writeHead(503).end());
    const { id: webhookId } = await register(local, receiver.url, ['sandbox.ready']);
    await local.ready();
    await receiver.waitFor(1);
    expect(local.service.books.summary().queuedDeliveries).toBe(1);
    await local.call('DELETE', `/webhooks/${webhookId}`);
    expect(local.service.books.summary().queuedDeliveries).toBe(0);
  },
  { needs: ['clock', 'local'] },
);

rule(
  'trap.S8',
  'the ready event can arrive before its caller has read the answer to create',
  async () => {
    const local = await startLocalTarget({ timings: { bootMs: 0 } });
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.ready']);
    await local.arm({ kind: 'drop_response', endpoint: 'createSandbox' });
    const create = local.call('POST', '/sandboxes', { body: { name: 'known-by-its-name' } });
    await expect(create).rejects.toThrow();
    const [ready] = await receiver.waitFor(1);
    expect(ready?.body.data.sandbox.name).toBe('known-by-its-name');
  },
  { needs: ['clock', 'faults', 'local'] },
);
