import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { isSignedWith, register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget } from '../target/index.js';

rule(
  ['delivery.retried-on-connection', 'delivery.2xx-delivered'],
  'an endpoint that breaks the connection receives the event again, until it answers 2xx',
  async () => {
    const local = await startLocalTarget();
    const attempts: (string | string[] | undefined)[] = [];
    const server = createServer((request, response) => {
      attempts.push(request.headers['x-svc-attempt']);
      if (attempts.length < 3) request.socket.destroy();
      else response.writeHead(299).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await register(local, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, ['sandbox.ready']);
    await local.ready();
    await expect.poll(() => attempts).toEqual(['1', '2', '3']);
    await expect.poll(() => local.service.books.summary().queuedDeliveries).toBe(0);
    await local.service.clock.advance(3_600_000);
    expect(attempts).toEqual(['1', '2', '3']);
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['delivery.back-off', 'delivery.8-attempts', 'headers.timestamp', 'headers.delivery'],
  'the delays double, every attempt is signed and has the id of the event, and the eighth is the last',
  async () => {
    const local = await startLocalTarget({ timings: { webhookRetryMs: 10_000 } });
    const receiver = await startReceiver((response) => void response.writeHead(500).end());
    const { secret } = await register(local, receiver.url, ['sandbox.ready']);
    local.service.clock.hold();
    await local.create({ ttlSeconds: null });
    await local.service.clock.advance(24 * 3_600_000);
    expect(receiver.received.map(({ headers }) => headers['x-svc-attempt'])).toEqual([...'12345678']);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery'])).size).toBe(1);
    const sent = local.service.books.deliveries().map(({ sentAt }) => sentAt);
    const gaps = sent.slice(1).map((at, index) => at - (sent[index] ?? 0));
    for (const [index, gap] of gaps.entries()) {
      expect(gap).toBeGreaterThanOrEqual(10_000 * 2 ** index);
      expect(gap).toBeLessThanOrEqual(10_000 * 2 ** index + 2_000);
    }
    // The receiver's clock is the real one: the time of an attempt is within its tolerance.
    for (const { headers } of receiver.received) {
      expect(Math.abs(Number(headers['x-svc-timestamp']) - Date.now() / 1_000)).toBeLessThan(300);
    }
    for (const delivery of receiver.received) expect(isSignedWith(secret, delivery)).toBe(true);
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['delivery.rotation-in-flight', 'webhooks.rotate', 'trap.S10'],
  'an attempt before a rotation has the old signature, and its repetition the new one',
  async () => {
    const local = await startLocalTarget();
    let answerFirst: (() => void) | undefined;
    const receiver = await startReceiver((response, _delivery, number) => {
      if (number > 1) response.writeHead(204).end();
      else answerFirst = () => void response.writeHead(503).end();
    });
    const { id, secret: old } = await register(local, receiver.url, ['sandbox.ready']);
    await local.ready();
    await receiver.waitFor(1);
    const { body } = await local.call('POST', `/webhooks/${id}/rotate`);
    answerFirst?.();
    const [inFlight, repeated] = await receiver.waitFor(2);
    expect(inFlight && isSignedWith(old, inFlight)).toBe(true);
    expect(repeated && isSignedWith(body.secret, repeated)).toBe(true);
    expect(repeated && isSignedWith(old, repeated)).toBe(false);
  },
  { needs: ['local'] },
);

rule(
  ['webhooks.delete-in-flight', 'webhooks.delete-drops-queue'],
  'an attempt in progress arrives after its webhook is deleted, and is not repeated',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver((response) => void response.writeHead(503).end());
    const { id } = await register(local, receiver.url, ['sandbox.ready']);
    await local.arm({ kind: 'webhook_delay', ms: 0 });
    await local.ready({ ttlSeconds: null });
    await receiver.waitFor(1);
    expect((await local.call('DELETE', `/webhooks/${id}`)).status).toBe(200);
    const arrived = receiver.received.length;
    await local.service.clock.advance(24 * 3_600_000);
    expect(receiver.received.length).toBeLessThanOrEqual(arrived + 1);
    expect(local.service.books.summary().queuedDeliveries).toBe(0);
  },
  { needs: ['local', 'clock', 'faults'] },
);

rule(
  ['delivery.out-of-order', 'trap.S6'],
  'a repeated event arrives after a later one that was accepted at once',
  async () => {
    const local = await startLocalTarget({ timings: { webhookRetryMs: 60_000 } });
    const receiver = await startReceiver((response, _delivery, number) => {
      response.writeHead(number === 1 ? 500 : 204).end();
    });
    await register(local, receiver.url, ['sandbox.ready', 'sandbox.archived']);
    const id = await local.ready({ ttlSeconds: null });
    await receiver.waitFor(1);
    await local.archive(id);
    await receiver.waitFor(2);
    await local.service.clock.advance(120_000);
    const taken = (await receiver.waitFor(3)).map(({ body }) => body.type);
    expect(taken).toEqual(['sandbox.ready', 'sandbox.archived', 'sandbox.ready']);
  },
  { needs: ['local', 'clock'] },
);

rule(
  'delivery.records-30-days',
  'the record of a delivery is kept for 30 days',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.ready']);
    const sandboxId = await local.ready({ ttlSeconds: null });
    await receiver.waitFor(1);
    const records = () => local.service.books.deliveries({ sandboxId });
    await expect.poll(() => records().length).toBe(1);
    local.service.clock.hold();
    await local.service.clock.advance(29 * 24 * 3_600_000);
    expect(records()).toHaveLength(1);
    await local.service.clock.advance(2 * 24 * 3_600_000);
    expect(records()).toHaveLength(0);
  },
  { needs: ['local', 'clock'] },
);
