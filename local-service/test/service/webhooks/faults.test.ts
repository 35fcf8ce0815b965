import { expect, test } from 'vitest';
import { startService } from '../service-under-test.js';
import { register, startReceiver } from './receiver.js';

test('a dropped event reaches nobody and counts as delivered', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  await register(under, receiver.url, ['sandbox.ready']);
  await under.arm({ kind: 'webhook_drop', event: 'sandbox.ready' });
  const lost = await under.ready();
  const next = await under.ready();
  await receiver.waitFor(1, { sandboxId: next });
  expect(receiver.of({ sandboxId: lost })).toEqual([]);
  expect(under.service.books.deliveries({ sandboxId: lost })).toMatchObject([{ fault: 'webhook_drop', status: null }]);
  await expect.poll(() => under.service.books.summary().queuedDeliveries).toBe(0);
});

test('a doubled event arrives twice with one id', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  await register(under, receiver.url, ['sandbox.ready']);
  await under.arm({ kind: 'webhook_double' });
  await under.ready();
  const [first, second] = await receiver.waitFor(2);
  expect(second?.body).toEqual(first?.body);
});

test('a delayed event arrives late, and a fault for one webhook does not affect another', async () => {
  const under = await startService();
  const [delayed, prompt] = [await startReceiver(), await startReceiver()];
  const { id: webhookId } = await register(under, delayed.url, ['sandbox.ready']);
  await register(under, prompt.url, ['sandbox.ready']);
  await under.arm({ kind: 'webhook_delay', ms: 200, webhookId });
  under.service.clock.hold();
  await under.create();
  await under.service.clock.advance(100);
  await prompt.waitFor(1);
  await under.service.clock.advance(99);
  expect(delayed.received).toEqual([]);
  await under.service.clock.advance(100);
  await delayed.waitFor(1);
});

test('S6: a reordered event arrives after its successor', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  await register(under, receiver.url, ['sandbox.ready', 'sandbox.archived']);
  await under.arm({ kind: 'webhook_reorder', event: 'sandbox.ready', ms: 60_000 });
  const id = await under.ready();
  await under.archive(id);
  await receiver.waitFor(2);
  expect(receiver.received.map(({ body }) => body.type)).toEqual(['sandbox.archived', 'sandbox.ready']);
});

test('deliveries of another header family have its names only', async () => {
  const under = await startService({ deviations: ['A-header-family'] });
  const receiver = await startReceiver();
  await register(under, receiver.url, ['sandbox.ready']);
  await under.ready();
  const [delivery] = await receiver.waitFor(1);
  const own = Object.keys(delivery?.headers ?? {}).filter((name) => name.startsWith('x-'));
  expect(own.sort()).toEqual(['attempt', 'delivery', 'event', 'signature', 'timestamp'].map((name) => `x-box-${name}`));
});
