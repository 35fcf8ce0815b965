import { expect, test } from 'vitest';
import { createCallGate } from '../../../src/state/call-gate.js';
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

test('each call during resets finds the whole state or none of it', async () => {
  const id = 'bx_aaaa2222';
  const under = await startService();
  const state = { version: 1, sandboxes: [{ id, name: 'seeded', files: { text: 'kept' } }] };
  let ended = false;
  const seen = new Set<string>();
  const read = async (): Promise<void> => {
    const file = await under.call('GET', `/sandboxes/${id}/files?path=text`);
    seen.add(file.status === 200 ? file.body.content : `${file.status} ${file.body.code}`);
  };
  const reading = Array.from({ length: 4 }, async () => {
    while (!ended) await read();
  });
  for (let time = 0; time < 10; time += 1) {
    await under.service.seed(state);
    await read();
    await under.service.reset();
  }
  ended = true;
  await Promise.all(reading);
  expect([...seen].toSorted()).toEqual(['404 sandbox_not_found', 'kept']);
});
