import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { isSignedWith, register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget, startPeople } from '../target/index.js';

const dayMs = 86_400_000;
const needs = { needs: ['clock', 'local'] } as const;

rule(
  'delivery.records-30-days',
  'records of delivered and exhausted deliveries are kept for 30 days',
  async () => {
    const target = await startLocalTarget();
    const [good, bad] = [await startReceiver(), await startReceiver((response) => void response.writeHead(500).end())];
    await register(target, good.url, ['sandbox.ready']);
    await register(target, bad.url, ['sandbox.ready']);
    const id = await target.ready();
    await bad.waitFor(8);
    const records = () => target.service.books.deliveries({ sandboxId: id });
    await expect.poll(() => records().length).toBe(9);
    await target.service.clock.advance(29 * dayMs);
    expect(records()).toHaveLength(9);
    await target.service.clock.advance(dayMs + 7_200_000);
    expect(records()).toEqual([]);
  },
  needs,
);

rule(
  ['trap.S10', 'delivery.rotation-in-flight'],
  'an attempt in progress during a rotation has the old signature, and its retry the new one',
  async () => {
    const target = await startLocalTarget();
    let answer = (): void => undefined;
    const receiver = await startReceiver((response, _delivery, number) => {
      if (number > 1) response.writeHead(204).end();
      else answer = () => void response.writeHead(500).end();
    });
    const { id: webhookId, secret: old } = await register(target, receiver.url, ['sandbox.ready']);
    await target.ready();
    const [inFlight] = await receiver.waitFor(1);
    const { body } = await target.call('POST', `/webhooks/${webhookId}/rotate`);
    answer();
    const [, retried] = await receiver.waitFor(2);
    expect(inFlight && isSignedWith(old, inFlight)).toBe(true);
    expect(inFlight && isSignedWith(body.secret, inFlight)).toBe(false);
    expect(retried && isSignedWith(body.secret, retried)).toBe(true);
    expect(retried && isSignedWith(old, retried)).toBe(false);
  },
  needs,
);

rule(
  ['trap.S9', 'webhooks.delete-in-flight', 'webhooks.delete-drops-queue'],
  'an attempt in progress arrives although its webhook is deleted, and is not repeated',
  async () => {
    const target = await startLocalTarget();
    const held: ServerResponse[] = [];
    const receiver = await startReceiver((response) => void held.push(response));
    const { id: webhookId } = await register(target, receiver.url, ['sandbox.ready']);
    const id = await target.ready();
    await receiver.waitFor(1);
    expect((await target.call('DELETE', `/webhooks/${webhookId}`)).status).toBe(200);
    for (const response of held) response.writeHead(500).end();
    await expect.poll(() => target.service.books.deliveries({ sandboxId: id })).toMatchObject([{ status: 500 }]);
    await target.service.clock.advance(dayMs);
    expect(receiver.received).toHaveLength(1);
  },
  needs,
);

rule(
  ['webhooks.patch', 'webhooks.subscription'],
  'a retry goes to the current URL of the webhook, and an event to the subscriptions that it had',
  async () => {
    const target = await startLocalTarget({ timings: { webhookRetryMs: 3_600_000 } });
    const [before, after] = [
      await startReceiver((response) => void response.writeHead(500).end()),
      await startReceiver(),
    ];
    const { id: webhookId } = await register(target, before.url, ['sandbox.ready']);
    const id = await target.ready();
    await expect.poll(() => target.service.books.deliveries({ sandboxId: id }).length).toBe(1);
    await target.call('PATCH', `/webhooks/${webhookId}`, { body: { url: after.url, events: ['sandbox.archived'] } });
    await target.service.clock.advance(3_700_000);
    expect((await after.waitFor(1)).map(({ body }) => body.type)).toEqual(['sandbox.ready']);
    expect(before.received).toHaveLength(1);
    await target.archive(id);
    expect((await after.waitFor(2)).map(({ body }) => body.type)).toEqual(['sandbox.ready', 'sandbox.archived']);
  },
  needs,
);

rule(
  ['webhooks.no-history', 'webhooks.at-most-10'],
  'no endpoint shows deliveries, and a deleted webhook frees its slot',
  async () => {
    const target = await startLocalTarget();
    const hooks = await Promise.all(Array.from({ length: 10 }, () => register(target, 'https://hooks.example.com/')));
    const body = { name: 'eleventh', url: 'https://hooks.example.com/', events: ['sandbox.ready'] };
    expect((await target.call('POST', '/webhooks', { body })).status).toBe(429);
    expect((await target.call('GET', `/webhooks/${hooks[0]?.id}/deliveries`)).status).toBe(404);
    await target.call('DELETE', `/webhooks/${hooks[0]?.id}`);
    expect((await target.call('POST', '/webhooks', { body })).status).toBe(201);
  },
  needs,
);

rule(
  ['events.account-wide', 'webhooks.get', 'webhooks.list'],
  'a webhook reports the sandboxes of its own account, and nobody else reads or changes it',
  async () => {
    const { ann, eve } = await startPeople();
    const [hers, strange] = [await startReceiver(), await startReceiver()];
    const { id: webhookId } = await register(ann, hers.url, ['sandbox.ready']);
    await register(eve, strange.url, ['sandbox.ready']);
    const [first, second, other] = [await ann.ready(), await ann.ready(), await eve.ready()];
    const told = (await hers.waitFor(2)).map(({ body }) => body.data.sandbox.id);
    expect(told.sort()).toEqual([first, second].sort());
    expect((await strange.waitFor(1)).map(({ body }) => body.data.sandbox.id)).toEqual([other]);
    const path = `/webhooks/${webhookId}`;
    expect((await eve.call('GET', '/webhooks')).text).not.toContain(webhookId);
    expect((await eve.call('GET', path)).status).toBe(404);
    expect((await eve.call('PATCH', path, { body: { name: 'mine' } })).status).toBe(404);
    expect((await eve.call('POST', `${path}/rotate`)).status).toBe(404);
    expect((await eve.call('DELETE', path)).status).toBe(404);
    expect((await ann.call('GET', path)).body.webhook.name).toBe('test');
  },
  { needs: ['local'] },
);
