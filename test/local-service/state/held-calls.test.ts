import { expect, test } from 'vitest';
import { createCallGate } from '../../../src/local-service/state/call-gate.js';
import { startService } from '../service-under-test.js';

function pending(): { readonly promise: Promise<string>; readonly end: () => void } {
  let end = (): void => undefined;
  const promise = new Promise<string>((resolve) => {
    end = () => resolve('done');
  });
  return { promise, end };
}

test('calls wait while calls are held, and holding waits for calls in progress', async () => {
  const gate = createCallGate();
  const events: string[] = [];
  const call = pending();
  const underWay = gate.pass(() => call.promise, { awaited: true });
  const holding = gate.hold().then((letGo) => {
    events.push('held');
    return letGo;
  });
  const later = gate.pass(async () => void events.push('later'), { awaited: true });
  call.end();
  await expect(underWay).resolves.toBe('done');
  const letGo = await holding;
  expect(events).toEqual(['held']);
  letGo();
  letGo();
  await later;
  expect(events).toEqual(['held', 'later']);
});

test('holding does not wait for a call that may last for hours', async () => {
  const gate = createCallGate();
  const command = pending();
  const running = gate.pass(() => command.promise, { awaited: false });
  const letGo = await gate.hold();
  letGo();
  command.end();
  await expect(running).resolves.toBe('done');
});

test('holders take turns', async () => {
  const gate = createCallGate();
  const first = await gate.hold();
  let held = false;
  const second = gate.hold().then((letGo) => {
    held = true;
    return letGo;
  });
  await new Promise(setImmediate);
  expect(held).toBe(false);
  first();
  (await second)();
  expect(held).toBe(true);
});

test('an export during creates, stops and deletes can be imported', async () => {
  const [from, to] = [await startService(), await startService()];
  const ids = await Promise.all(Array.from({ length: 8 }, () => from.ready()));
  const busy = [
    ...ids.slice(0, 4).map((id) => from.call('POST', `/sandboxes/${id}/stop`)),
    ...ids
      .slice(4, 6)
      .map((id) => from.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': id } })),
    ...Array.from({ length: 8 }, () => from.call('POST', '/sandboxes')),
  ];
  const exported = await from.service.export();
  await to.service.import(exported);
  await Promise.all(busy);
  const settled = ['ready', 'archived'];
  await expect
    .poll(async () =>
      (await to.call('GET', '/sandboxes')).body.sandboxes.filter(({ state }) => !settled.includes(state)),
    )
    .toEqual([]);
  for (const { id, state } of (await to.call('GET', '/sandboxes')).body.sandboxes) {
    if (state === 'archived') expect((await to.call('POST', `/sandboxes/${id}/resume`)).status).toBe(202);
    await to.reach(id, 'ready');
    expect((await to.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'true' } })).status).toBe(200);
  }
});
