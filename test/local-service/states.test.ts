import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';
import { register, startReceiver } from './webhook-receiver.js';

test('a sandbox shows every required field, and only what the specification lists', async () => {
  const under = await startService();
  const id = await under.ready({ name: 'all fields', type: 'xlarge', ttlSeconds: null });
  const { body } = await under.call('GET', `/sandboxes/${id}`);
  expect(body.type).toBe('sandbox.info');
  expect(body.sandbox).toMatchObject({
    id,
    name: 'all fields',
    desktopAvailable: false,
    snapshotAvailable: false,
    type: 'xlarge',
    billingMultiplier: 50 / 9,
    hydrated: true,
    archiveAfter: null,
    access: 'owner',
    setupStatus: null,
    stop: null,
  });
  expect(Object.keys(body.sandbox)).not.toContain('epoch');
});

test('S5: a cancelled create is reported once, with id, state and error only, and is not found from then on', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  await register(under, receiver.url);
  await under.arm({ kind: 'create_cancelled' });
  const id = await under.create({ name: 'doomed' });
  const sandbox = await under.reach(id, 'cancelled');
  expect(Object.keys(sandbox).sort()).toEqual(['error', 'id', 'state']);
  expect(await under.call('GET', `/sandboxes/${id}`)).toMatchObject({
    status: 404,
    body: { code: 'sandbox_not_found' },
  });
  expect((await under.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
  // An event of a later sandbox shows that none of the cancelled one is still on its way.
  const later = await under.ready();
  await receiver.waitFor(1, { sandboxId: later });
  expect(receiver.of({ sandboxId: id })).toEqual([]);
});

test('a sandbox that enters error says so, and its recovery is a ready event', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  await register(under, receiver.url);
  await under.arm({ kind: 'boot_error', recoverMs: 30 });
  const id = await under.create();
  const [failed] = await receiver.waitFor(1, { type: 'sandbox.error' });
  expect(failed?.body.data).toMatchObject({ state: 'error', previousState: 'provisioned' });
  const [ready] = await receiver.waitFor(1, { type: 'sandbox.ready' });
  expect(ready?.body.data).toMatchObject({ state: 'ready', previousState: 'error' });
  expect(await under.reach(id, 'ready')).toMatchObject({ error: null });
});

test('S1: the end of a prompt moves running to idle and pushes nothing', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  await register(under, receiver.url);
  const id = await under.ready();
  const { body } = await under.prompt(id, 'hello');
  await under.promptEnd(id, body.promptId);
  await under.reach(id, 'idle');
  await under.archive(id);
  await receiver.waitFor(1, { type: 'sandbox.archived' });
  expect(receiver.received.map(({ body: event }) => event.type)).toEqual(['sandbox.ready', 'sandbox.archived']);
});

test('a resumed sandbox is usable before it is hydrated, and sandbox.hydrated tells when it is', async () => {
  const under = await startService({ timings: { hydrationMs: 250 } });
  const receiver = await startReceiver();
  await register(under, receiver.url, ['sandbox.hydrated']);
  const id = await under.ready();
  await under.archive(id);
  expect((await under.call('POST', `/sandboxes/${id}/resume`)).body.type).toBe('sandbox.resuming');
  const usable = await under.reach(id, 'ready');
  expect(usable).toMatchObject({ hydrated: false, hydratedAt: null });
  expect(usable.hydration).toMatchObject({ phase: 'hydrating', percent: expect.any(Number) });
  const { body: list } = await under.call('GET', '/sandboxes');
  expect(list.sandboxes[0]?.hydration).toBeNull();
  const [hydrated] = await receiver.waitFor(1);
  expect(hydrated?.body.data).toEqual({ sandbox: { id, name: usable.name } });
  const { body } = await under.call('GET', `/sandboxes/${id}`);
  expect(body.sandbox).toMatchObject({ hydrated: true, hydration: null, hydratedAt: expect.any(String) });
});

test('an eager restore is hydrated at the moment it is ready', async () => {
  const under = await startService({ timings: { hydrationMs: 0 } });
  const receiver = await startReceiver();
  await register(under, receiver.url, ['sandbox.hydrated', 'sandbox.ready']);
  const id = await under.ready();
  await under.archive(id);
  await under.call('POST', `/sandboxes/${id}/resume`);
  expect(await under.reach(id, 'ready')).toMatchObject({ hydrated: true });
  await receiver.waitFor(3, { sandboxId: id });
  expect(receiver.of({ type: 'sandbox.hydrated' })).toHaveLength(1);
});

test('the setup script runs in the background and its outcome is kept', async () => {
  const under = await startService();
  const good = await under.create({ setupScript: 'echo prepared > made-by-setup' });
  const bad = await under.create({ setupScript: 'echo went wrong >&2; exit 3' });
  const sandboxOf = async (id: string) => (await under.call('GET', `/sandboxes/${id}`)).body.sandbox;
  await expect.poll(async () => (await sandboxOf(good)).setupStatus, { timeout: 5_000 }).toBe('done');
  const file = await under.call('GET', `/sandboxes/${good}/files?path=made-by-setup`);
  expect(file.body.content).toBe('prepared\n');
  await expect.poll(async () => (await sandboxOf(bad)).setupStatus, { timeout: 5_000 }).toBe('failed');
  expect((await sandboxOf(bad)).setupError).toMatch(/exit code 3.*went wrong/s);
  expect((await sandboxOf(bad)).state).toBe('ready');
});

test('delete needs the exact confirmation, runs as an operation, and leaves nothing to be found', async () => {
  const under = await startService({ timings: { deleteMs: 30 } });
  const id = await under.ready();
  const wrong = await under.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': 'bx_22222222' } });
  expect(wrong).toMatchObject({ status: 400, body: { code: 'confirmation_required' } });
  const headers = { 'x-svc-confirm-delete': id };
  const accepted = await under.call('DELETE', `/sandboxes/${id}`, { headers });
  expect(accepted).toMatchObject({ status: 202, body: { type: 'sandbox.deleting' } });
  const again = await under.call('DELETE', `/sandboxes/${id}`, { headers });
  expect(again.body.operationId).toBe(accepted.body.operationId);
  const status = async () => (await under.call('GET', `/deletion-operations/${accepted.body.operationId}`)).body.status;
  await expect.poll(status, { timeout: 5_000 }).toBe('completed');
  expect((await under.call('GET', `/sandboxes/${id}`)).status).toBe(404);
  expect((await under.call('DELETE', `/sandboxes/${id}`, { headers })).status).toBe(404);
  expect(under.service.books.sandboxes({ sandboxId: id })).toMatchObject([{ gone: 'deleted' }]);
});

test('lists page by cursor and find every sandbox once', async () => {
  const under = await startService();
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) ids.push(await under.create());
  const found: string[] = [];
  let cursor = '';
  do {
    const { body } = await under.call('GET', `/sandboxes?limit=2${cursor && `&cursor=${cursor}`}`);
    found.push(...body.sandboxes.map(({ id }) => id));
    cursor = body.nextCursor ?? '';
  } while (cursor !== '');
  expect(found).toEqual(ids);
  const withCost = await under.call('GET', '/sandboxes?include=cost');
  expect(withCost.body.sandboxes[0]?.cost).toMatchObject({ seconds: expect.any(Number), dollars: expect.any(Number) });
});
