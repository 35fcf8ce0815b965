import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createCallGate } from '../../../src/local-service/state/call-gate.js';
import { emptyDirectory, startService } from '../service-under-test.js';

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

test('an export holds the disks as they were at one moment, while calls write to one after another', async () => {
  const under = await startService();
  const ids = ['bx_aaaa2222', 'bx_bbbb2222', 'bx_cccc2222', 'bx_dddd2222'];
  // Copies that take longer than a call.
  const filler = Array.from({ length: 100 }, (_, index) => [`filler/${index}`, '']);
  const files = { count: '0', ...Object.fromEntries(filler) };
  await under.service.seed({ version: 1, sandboxes: ids.map((id) => ({ id, name: id, files })) });
  let exported = false;
  let rounds = 0;
  const writing = (async () => {
    for (; !exported; rounds += 1)
      for (const id of ids)
        await under.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'count', content: `${rounds}` } });
  })();
  const found: number[][] = [];
  while (found.length < 3) {
    const before = rounds;
    await expect.poll(() => rounds).toBeGreaterThan(before);
    const folder = await emptyDirectory();
    await writeFile(join(folder, 'state.tar.gz'), await buffer(await under.service.export()));
    execFileSync('tar', ['-xzf', 'state.tar.gz'], { cwd: folder });
    const countOf = async (id: string) => Number(await readFile(join(folder, 'machines/disks', id, 'count'), 'utf8'));
    found.push(await Promise.all(ids.map(countOf)));
  }
  exported = true;
  await writing;
  // Those before some disk are one round ahead of it and of those after it.
  for (const counts of found) {
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    expect((counts[0] ?? 0) - (counts.at(-1) ?? 0)).toBeLessThanOrEqual(1);
  }
});

test('each call during an import finds the old state or the new one', async () => {
  const id = 'bx_aaaa2222';
  const [under, other] = [await startService(), await startService()];
  const stateWith = (text: string) => ({ version: 1, sandboxes: [{ id, name: text, files: { text } }] });
  await under.service.seed(stateWith('old'));
  await other.service.seed(stateWith('new'));
  const archives = [await buffer(await other.service.export()), await buffer(await under.service.export())];
  let imported = false;
  const seen = new Set<string>();
  const reading = Array.from({ length: 4 }, async () => {
    while (!imported) {
      const file = await under.call('GET', `/sandboxes/${id}/files?path=text`);
      seen.add(file.status === 200 ? file.body.content : `${file.status} ${file.body.code}`);
      const list = await under.call('GET', '/sandboxes');
      seen.add(list.status === 200 ? list.body.sandboxes.map(({ name }) => name).join() : `${list.status}`);
    }
  });
  for (let time = 0; time < 10; time += 1) {
    const archive = archives[time % archives.length];
    if (archive) await under.service.import(Readable.from([archive]));
  }
  imported = true;
  await Promise.all(reading);
  expect([...seen].toSorted()).toEqual(['new', 'old']);
});
