import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

rule(
  [
    'sandbox.required',
    'sandbox.name',
    'sandbox.billing-multiplier',
    'sandbox.hydrated-from-start',
    'sandbox.archive-after',
    'sandbox.setup-status',
    'sandbox.stop-field',
  ],
  'a sandbox shows every required field, and only what the specification lists',
  async () => {
    const id = await target.ready({ name: 'all fields', type: 'xlarge', ttlSeconds: null });
    const { body } = await target.call('GET', `/sandboxes/${id}`);
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
  },
);

rule(
  ['trap.S5', 'states.cancelled', 'states.cancelled-once'],
  'a cancelled create is reported once, with id, state and error only, and is not found afterwards',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url);
    await local.arm({ kind: 'create_cancelled' });
    const id = await local.create({ name: 'doomed' });
    const sandbox = await local.reach(id, 'cancelled');
    expect(Object.keys(sandbox).sort()).toEqual(['error', 'id', 'state']);
    expect(await local.call('GET', `/sandboxes/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'sandbox_not_found' },
    });
    expect((await local.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
    // An event of a later sandbox shows that none of the cancelled one is still on its way.
    const later = await local.ready();
    await receiver.waitFor(1, { sandboxId: later });
    expect(receiver.of({ sandboxId: id })).toEqual([]);
  },
  { needs: ['faults', 'local'] },
);

rule(
  ['states.enters-error', 'states.recovery', 'events.error', 'events.ready-after-error', 'states.error'],
  'a sandbox that enters error says so, and its recovery is a ready event',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url);
    await local.arm({ kind: 'boot_error', recoverMs: 30 });
    const id = await local.create();
    const [failed] = await receiver.waitFor(1, { type: 'sandbox.error' });
    expect(failed?.body.data).toMatchObject({ state: 'error', previousState: 'provisioned' });
    const [ready] = await receiver.waitFor(1, { type: 'sandbox.ready' });
    expect(ready?.body.data).toMatchObject({ state: 'ready', previousState: 'error' });
    expect(await local.reach(id, 'ready')).toMatchObject({ error: null });
  },
  { needs: ['faults', 'local'] },
);

rule(
  ['trap.S1', 'events.ready-not-usable-to-usable', 'events.no-other-push'],
  'the end of a prompt moves running to idle and pushes nothing',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url);
    const id = await local.ready();
    const { body } = await local.prompt(id, 'hello');
    await local.promptEnd(id, body.promptId);
    await local.reach(id, 'idle');
    await local.archive(id);
    await receiver.waitFor(1, { type: 'sandbox.archived' });
    expect(receiver.received.map(({ body: event }) => event.type)).toEqual(['sandbox.ready', 'sandbox.archived']);
  },
  { needs: ['local'] },
);

rule(
  [
    'sandbox.usable-before-hydrated',
    'sandbox.hydrated',
    'sandbox.hydrated-at',
    'sandbox.hydrated-webhook',
    'sandbox.hydration-null-in-lists',
    'states.hydration-ends',
    'events.hydrated-lazy',
    'payload.hydrated',
  ],
  'a resumed sandbox is usable before it is hydrated, and sandbox.hydrated reports when it is',
  async () => {
    const local = await startLocalTarget({ timings: { hydrationMs: 600_000 } });
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.hydrated']);
    const id = await local.ready();
    await local.archive(id);
    expect((await local.call('POST', `/sandboxes/${id}/resume`)).body.type).toBe('sandbox.resuming');
    const usable = await local.reach(id, 'ready');
    expect(usable).toMatchObject({ hydrated: false, hydratedAt: null });
    expect(usable.hydration).toMatchObject({ phase: expect.any(String), entriesDone: expect.any(Number) });
    const { body: list } = await local.call('GET', '/sandboxes');
    expect(list.sandboxes[0]?.hydration).toBeNull();
    await local.service.clock.advance(600_000);
    const [hydrated] = await receiver.waitFor(1);
    expect(hydrated?.body.data).toEqual({ sandbox: { id, name: usable.name } });
    const { body } = await local.call('GET', `/sandboxes/${id}`);
    expect(body.sandbox).toMatchObject({ hydrated: true, hydration: null, hydratedAt: expect.any(String) });
  },
  { needs: ['clock', 'local'] },
);

rule(
  'events.hydrated-eager',
  'an eager restore is hydrated when the sandbox becomes ready',
  async () => {
    const local = await startLocalTarget({ timings: { hydrationMs: 0 } });
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.hydrated', 'sandbox.ready']);
    const id = await local.ready();
    await local.archive(id);
    await local.call('POST', `/sandboxes/${id}/resume`);
    expect(await local.reach(id, 'ready')).toMatchObject({ hydrated: true });
    await receiver.waitFor(3, { sandboxId: id });
    expect(receiver.of({ type: 'sandbox.hydrated' })).toHaveLength(1);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['create.setup-script', 'sandbox.setup-done', 'sandbox.setup-failed', 'sandbox.setup-error', 'states.setup-moves'],
  'the setup script runs in the background, and its result is kept',
  async () => {
    const good = await target.create({ setupScript: 'echo prepared > made-by-setup' });
    const bad = await target.create({ setupScript: 'echo went wrong >&2; exit 3' });
    const sandboxOf = async (id: string) => (await target.call('GET', `/sandboxes/${id}`)).body.sandbox;
    await expect.poll(async () => (await sandboxOf(good)).setupStatus).toBe('done');
    const file = await target.call('GET', `/sandboxes/${good}/files?path=made-by-setup`);
    expect(file.body.content).toBe('prepared\n');
    await expect.poll(async () => (await sandboxOf(bad)).setupStatus).toBe('failed');
    expect((await sandboxOf(bad)).setupError).toMatch(/exit code 3.*went wrong/s);
    expect((await sandboxOf(bad)).state).toBe('ready');
  },
);

rule(
  ['deletion.confirm-header', 'deletion.confirm-exact', 'deletion.accepted', 'deletion.poll', 'deletion.gone'],
  'delete needs the exact confirmation, runs as an operation, and leaves nothing',
  async () => {
    const local = await startLocalTarget({ timings: { deleteMs: 600_000 } });
    const id = await local.ready();
    const wrong = await local.call('DELETE', `/sandboxes/${id}`, {
      headers: { 'x-svc-confirm-delete': 'bx_22222222' },
    });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'confirmation_required' } });
    const headers = { 'x-svc-confirm-delete': id };
    const accepted = await local.call('DELETE', `/sandboxes/${id}`, { headers });
    expect(accepted).toMatchObject({ status: 202, body: { type: 'sandbox.deleting' } });
    const again = await local.call('DELETE', `/sandboxes/${id}`, { headers });
    expect(again.body.operationId).toBe(accepted.body.operationId);
    await local.service.clock.advance(600_000);
    const status = async () =>
      (await local.call('GET', `/deletion-operations/${accepted.body.operationId}`)).body.status;
    await expect.poll(status).toBe('completed');
    expect((await local.call('GET', `/sandboxes/${id}`)).status).toBe(404);
    expect((await local.call('DELETE', `/sandboxes/${id}`, { headers })).status).toBe(404);
    expect(local.service.books.sandboxes({ sandboxId: id })).toMatchObject([{ gone: 'deleted' }]);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['sandboxes.list', 'sandbox.cost-included'],
  'lists are paged by cursor and contain every sandbox once',
  async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push(await target.create());
    const found: string[] = [];
    let cursor = '';
    do {
      const { body } = await target.call('GET', `/sandboxes?limit=2${cursor && `&cursor=${cursor}`}`);
      found.push(...body.sandboxes.map(({ id }) => id));
      cursor = body.nextCursor ?? '';
    } while (cursor !== '');
    // Others of this account may be listed too.
    expect(found.filter((id) => ids.includes(id)).sort()).toEqual(ids.sort());
    const withCost = await target.call('GET', '/sandboxes?include=cost');
    expect(withCost.body.sandboxes[0]?.cost).toMatchObject({
      seconds: expect.any(Number),
      dollars: expect.any(Number),
    });
  },
);

rule(
  'sandboxes.list',
  'a page after a sandbox that was deleted omits none of the same millisecond, and an unknown cursor is refused',
  async () => {
    const local = await startLocalTarget();
    local.service.clock.hold();
    const ids: string[] = [];
    for (let index = 0; index < 4; index++) ids.push(await local.create());
    const { nextCursor } = (await local.call('GET', '/sandboxes?limit=2')).body;
    expect(nextCursor).not.toBeNull();
    await local.call('DELETE', `/sandboxes/${ids[1]}`, { headers: { 'x-svc-confirm-delete': ids[1] ?? '' } });
    const rest = (await local.call('GET', `/sandboxes?limit=2&cursor=${nextCursor}`)).body;
    expect(rest.sandboxes.map(({ id }) => id)).toEqual(ids.slice(2));
    const foreign = await startLocalTarget();
    for (const cursor of ['what', 'bx_22222222', await foreign.create()]) {
      const refused = await local.call('GET', `/sandboxes?cursor=${cursor}`);
      expect(refused, cursor).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    }
  },
  { needs: ['clock', 'local'] },
);
