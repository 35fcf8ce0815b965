import { expect } from 'vitest';
import { rule } from '../rule.js';
import { startLocalTarget, type Target, useTarget } from '../target/index.js';

const target = useTarget();

const write = (on: Target, id: string, path: string, content: string) =>
  on.call('PUT', `/sandboxes/${id}/files`, { body: { path, content } });
const read = async (on: Target, id: string, path: string) => {
  const { status, body } = await on.call('GET', `/sandboxes/${id}/files?path=${encodeURIComponent(path)}`);
  return status === 200 ? body.content : status;
};
const fork = (on: Target, id: string, body?: object, key?: string) =>
  on.call('POST', `/sandboxes/${id}/fork`, { body, headers: key === undefined ? {} : { 'idempotency-key': key } });

rule(
  ['fork.response', 'fork.from-archived', 'fork.copies', 'states.archived'],
  'a fork of an archived sandbox is accepted, and has its files on its own disk',
  async () => {
    const source = await target.ready({ name: 'fork source' });
    await write(target, source, 'notes.txt', 'from the source');
    await target.archive(source);
    const { status, body } = await fork(target, source);
    expect(status).toBe(202);
    expect(body).toMatchObject({ type: 'sandbox.created', sourceSandboxId: source });
    expect(body.sandbox.id).not.toBe(source);
    await target.reach(body.sandbox.id, 'ready');
    expect(await read(target, body.sandbox.id, 'notes.txt')).toBe('from the source');
    await write(target, body.sandbox.id, 'notes.txt', 'from the fork');
    await target.call('POST', `/sandboxes/${source}/resume`);
    await target.reach(source, 'ready');
    expect(await read(target, source, 'notes.txt')).toBe('from the source');
  },
);

rule(
  ['fork.from-usable', 'fork.copies', 'sandbox.snapshot-available', 'sandbox.snapshot-completed-at'],
  'a fork of a usable sandbox has its state at the answer, and is a fresh snapshot of the source',
  async () => {
    const source = await target.ready();
    await write(target, source, 'before.txt', 'before');
    const { body } = await fork(target, source);
    await write(target, source, 'after.txt', 'after');
    await target.reach(body.sandbox.id, 'ready');
    expect(await read(target, body.sandbox.id, 'before.txt')).toBe('before');
    expect(await read(target, body.sandbox.id, 'after.txt')).toBe(404);
    const { body: now } = await target.call('GET', `/sandboxes/${source}`);
    expect(now.sandbox).toMatchObject({ state: 'ready', snapshotAvailable: true, lastSnapshotStatus: 'completed' });
    expect(now.sandbox.snapshotCompletedAt).toBe(now.sandbox.lastSnapshotAttemptAt);
    expect(body.sandbox).toMatchObject({ snapshotAvailable: false, snapshotCompletedAt: null });
  },
);

rule('fork.from-usable', 'the agent of a running source continues while it is forked', async () => {
  const source = await target.ready();
  const { body: prompt } = await target.prompt(source, '```sh\nuntil test -e go; do sleep 0.02; done\n```');
  const { status, body } = await fork(target, source);
  expect(status).toBe(202);
  await write(target, source, 'go', '');
  expect((await target.promptEnd(source, prompt.promptId)).status).toBe('completed');
  await target.reach(body.sandbox.id, 'ready');
  expect((await target.call('GET', `/sandboxes/${body.sandbox.id}`)).body.sandbox.state).toBe('ready');
});

rule(
  ['fork.type-and-ttl', 'sandbox.type-current', 'sandbox.snapshots-off', 'sandbox.monitoring-off'],
  'a fork inherits unset fields from its source, and has its own set fields',
  async () => {
    const source = await target.ready({ name: 'settings', type: 'large', ttlSeconds: 900, monitoring: false });
    const { body: same } = await fork(target, source);
    expect(same.sandbox).toMatchObject({
      name: 'settings',
      type: 'large',
      ttlSeconds: 900,
      monitoring: false,
      snapshots: true,
    });
    const own = { name: 'own settings', type: 'small', ttlSeconds: null, monitoring: true, snapshots: false };
    const { body: other } = await fork(target, source, own);
    expect(other.sandbox).toMatchObject({ ...own, archiveAfter: null, billingMultiplier: 0.5 });
    expect(await fork(target, source, { type: 'huge' })).toMatchObject({ status: 400 });
    expect(await fork(target, source, { name: '' })).toMatchObject({ status: 400, body: { code: 'invalid_name' } });
  },
);

rule(
  ['fork.idempotent', 'idempotency.same-sandbox', 'idempotency.key-reused'],
  'create and fork share their keys: the same call is answered once, and any other is refused',
  async () => {
    const [one, two] = [await target.ready(), await target.ready()];
    const key = `fork-of-${one}`;
    const first = await fork(target, one, { name: 'once' }, key);
    const again = await fork(target, one, { name: 'once' }, key);
    expect(again).toMatchObject({ status: 202, body: { sourceSandboxId: one } });
    expect(again.body.sandbox.id).toBe(first.body.sandbox.id);
    const reused = { status: 409, body: { code: 'idempotency_key_reused' } };
    expect(await fork(target, one, { name: 'twice' }, key)).toMatchObject(reused);
    expect(await fork(target, two, { name: 'once' }, key)).toMatchObject(reused);
    const create = { body: { name: 'once' }, headers: { 'idempotency-key': key } };
    expect(await target.call('POST', '/sandboxes', create)).toMatchObject(reused);
    await target.call('POST', '/sandboxes', { body: {}, headers: { 'idempotency-key': `${key}-create` } });
    expect(await fork(target, one, {}, `${key}-create`)).toMatchObject(reused);
  },
);

rule(
  'fork.idempotent',
  'a repeated fork returns its sandbox even if the source is gone',
  async () => {
    const local = await startLocalTarget();
    const source = await local.ready();
    const first = await fork(local, source, {}, 'key-1');
    await local.call('DELETE', `/sandboxes/${source}`, { headers: { 'x-svc-confirm-delete': source } });
    const again = await fork(local, source, {}, 'key-1');
    expect(again.body.sandbox.id).toBe(first.body.sandbox.id);
    expect(await fork(local, source, {}, 'key-2')).toMatchObject({ status: 404, body: { code: 'sandbox_not_found' } });
  },
  { needs: ['local'] },
);

rule(
  ['errors.fork-failed', 'sandbox.snapshots-off'],
  'a sandbox that is being created, archiving, in error or without snapshots cannot be forked',
  async () => {
    const local = await startLocalTarget({ timings: { bootMs: 60_000, archiveMs: 60_000 } });
    local.service.clock.hold();
    const refused = { status: 409, body: { code: 'fork_failed' } };
    const source = await local.create({ snapshots: false });
    expect(await fork(local, source)).toMatchObject(refused);
    await local.service.clock.advance(60_000);
    await local.call('POST', `/sandboxes/${source}/stop`);
    expect(await fork(local, source)).toMatchObject(refused);
    await local.service.clock.advance(60_000);
    expect((await local.call('GET', `/sandboxes/${source}`)).body.sandbox.state).toBe('archived');
    expect(await fork(local, source)).toMatchObject(refused);
    await local.arm({ kind: 'boot_error' });
    const broken = await local.create();
    await local.service.clock.advance(60_000);
    expect((await local.call('GET', `/sandboxes/${broken}`)).body.sandbox.state).toBe('error');
    expect(await fork(local, broken)).toMatchObject(refused);
  },
  { needs: ['clock', 'faults', 'local'] },
);

rule(
  ['states.cancelled', 'states.cancelled-once', 'trap.S5'],
  'a fork without a machine is reported cancelled once, and leaves its source unchanged',
  async () => {
    const local = await startLocalTarget();
    const source = await local.ready();
    await local.arm({ kind: 'create_cancelled' });
    const { body } = await fork(local, source);
    const report = await local.reach(body.sandbox.id, 'cancelled');
    expect(Object.keys(report).sort()).toEqual(['error', 'id', 'state']);
    expect(await local.call('GET', `/sandboxes/${body.sandbox.id}`)).toMatchObject({ status: 404 });
    expect((await fork(local, source)).status).toBe(202);
  },
  { needs: ['faults', 'local'] },
);

rule(
  'limits.limit-reached',
  'a fork counts towards the limits of create',
  async () => {
    const local = await startLocalTarget({ limits: { activeSandboxes: 1 } });
    const source = await local.ready();
    expect(await fork(local, source)).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
  },
  { needs: ['local'] },
);

rule(
  ['fork.idempotent', 'idempotency.in-progress'],
  'a key is in progress for as long as its fork is being accepted',
  async () => {
    const minute = 60_000;
    const local = await startLocalTarget({ timings: { acceptMs: 5 * minute } });
    local.service.clock.hold();
    const created = local.create();
    let source: string | undefined;
    void created.then((id) => {
      source = id;
    });
    while (source === undefined) await local.service.clock.advance(minute);
    await local.service.clock.advance(minute);
    const both = [fork(local, await created, {}, 'key-1'), fork(local, await created, {}, 'key-1')];
    const inProgress = { status: 409, body: { code: 'idempotency_in_progress' } };
    // The other one waits for the clock, so this one is answered first.
    expect(await Promise.race(both)).toMatchObject(inProgress);
    await local.service.clock.advance(4 * minute);
    expect(await fork(local, await created, {}, 'key-1')).toMatchObject(inProgress);
    await local.service.clock.advance(minute);
    const accepted = (await Promise.all(both)).find(({ status }) => status === 202);
    const again = await fork(local, await created, {}, 'key-1');
    expect(again.body.sandbox.id).toBe(accepted?.body.sandbox.id);
    expect((await local.call('GET', '/sandboxes')).body.sandboxes).toHaveLength(2);
  },
  { needs: ['clock', 'local'] },
);
