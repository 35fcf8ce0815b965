import { describe, expect, onTestFinished, test } from 'vitest';
import { type ControlledClock, createClock } from '../../src/clock.js';
import { startService } from './service-under-test.js';
import { register, startReceiver } from './webhooks/receiver.js';

function clockUnderTest(): ControlledClock {
  const clock = createClock();
  onTestFinished(() => clock.close());
  return clock;
}

describe('createClock', () => {
  test('follows the real time until it is held, and then stands still', () => {
    const clock = clockUnderTest();
    const before = Date.now();
    const now = clock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
    clock.hold();
    const stands = clock.now();
    expect(clock.now()).toBe(stands);
    expect(clock.state().heldAt).toBe(stands);
  });

  test('stops an advance at each due moment, in order, including moments that these set off', async () => {
    const clock = clockUnderTest();
    clock.hold();
    const start = clock.now();
    const seen: number[] = [];
    clock.at(start + 5_000, () => seen.push(clock.now() - start));
    clock.at(start + 1_000, () => {
      seen.push(clock.now() - start);
      clock.at(start + 2_000, () => seen.push(clock.now() - start));
    });
    await clock.advance(4_000);
    expect(seen).toEqual([1_000, 2_000]);
    expect(clock.now() - start).toBe(4_000);
    await clock.advance(1_000);
    expect(seen).toEqual([1_000, 2_000, 5_000]);
  });

  test('waits for work in progress before an advance continues to the next moment', async () => {
    const clock = clockUnderTest();
    clock.hold();
    const order: string[] = [];
    let working: Promise<void> | undefined;
    clock.waitFor({ busy: () => working !== undefined, idle: async () => working });
    clock.at(clock.now() + 10, () => {
      working = new Promise<void>((resolve) => setTimeout(resolve, 20)).then(() => {
        order.push('done');
        working = undefined;
      });
    });
    clock.at(clock.now() + 20, () => order.push('next'));
    await clock.advance(30);
    expect(order).toEqual(['done', 'next']);
  });

  test('runs a skippable timer once, at the end of an advance', async () => {
    const clock = clockUnderTest();
    clock.hold();
    const start = clock.now();
    const ran: number[] = [];
    clock.at(start + 1_000, () => ran.push(clock.now() - start), { passedOver: true });
    await clock.advance(60_000);
    expect(ran).toEqual([60_000]);
  });

  test('continues from where it stood when released, and never runs a cancelled timer', async () => {
    const clock = clockUnderTest();
    clock.hold();
    const before = clock.now();
    await clock.advance(3_600_000);
    clock.release();
    expect(clock.now() - before).toBeGreaterThanOrEqual(3_600_000);
    let ran = false;
    clock.at(clock.now() + 1_000, () => {
      ran = true;
    })();
    await clock.advance(2_000);
    expect(ran).toBe(false);
  });

  test('catches up with the real time, with what is due on the way in order, and does not go back to it', async () => {
    const hourAgo = Date.now() - 3_600_000;
    const clock = createClock({ initial: { aheadMs: 0, heldAt: hourAgo } });
    onTestFinished(() => clock.close());
    const seen: number[] = [];
    for (const minutes of [30, 10]) clock.at(hourAgo + minutes * 60_000, () => seen.push(minutes));
    const before = Date.now();
    clock.release();
    await clock.catchUp();
    expect(seen).toEqual([10, 30]);
    expect(clock.now()).toBeGreaterThanOrEqual(before);
    await clock.advance(3_600_000);
    await clock.catchUp();
    expect(clock.now()).toBeGreaterThanOrEqual(before + 3_600_000);
  });
});

test('fifteen days pass in moments: auto-stop, archive, expiry of the data, and both webhooks', async () => {
  const receiver = await startReceiver();
  const under = await startService();
  await register(under, receiver.url);
  const id = await under.ready({ ttlSeconds: 3_600 });
  await under.call('POST', '/clock', { admin: true, body: { held: true, advanceSeconds: 15 * 24 * 3_600 } });
  const { body } = await under.call('GET', `/sandboxes/${id}`);
  expect(body.sandbox).toMatchObject({
    state: 'archived',
    dataExpiredAt: expect.any(String),
    snapshotAvailable: false,
  });
  const daysKept = Date.parse(body.sandbox.dataExpiredAt ?? '') - Date.parse(body.sandbox.stop?.endedAt ?? '');
  expect(daysKept).toBe(14 * 24 * 3_600_000);
  expect(receiver.received.map(({ body: { type } }) => type)).toEqual(['sandbox.ready', 'sandbox.archived']);
  expect((await under.call('POST', `/sandboxes/${id}/resume`)).body.code).toBe('snapshot_data_expired');
});

test('a restart keeps the clock where it was, held or moved', async () => {
  const under = await startService();
  under.service.clock.hold();
  await under.service.clock.advance(86_400_000);
  const stood = under.service.clock.now();
  await under.service.close();
  const again = await startService({ directory: under.directory });
  expect(again.service.clock.now()).toBe(stood);
  await again.service.reset();
  const before = Date.now();
  const now = again.service.clock.now();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test('an invalid body does not move the clock', async () => {
  const under = await startService();
  for (const body of [{ advanceSeconds: -1 }, { held: 'yes' }, { advanceSeconds: 1e12 }, { forward: 1 }]) {
    expect((await under.call('POST', '/clock', { admin: true, body })).status).toBe(400);
  }
});
