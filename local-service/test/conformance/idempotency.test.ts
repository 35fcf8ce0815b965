import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { rule } from './rule.js';
import { startLocalTarget, type Target, useTarget } from './target/index.js';

const target = useTarget();

const createWith = (under: Target, key: string, body: unknown) =>
  under.call('POST', '/sandboxes', { body, headers: { 'idempotency-key': key } });

rule(
  ['trap.S4', 'idempotency.same-sandbox'],
  'the same key and body return the original sandbox, in any order of keys and with any white space',
  async () => {
    const local = await startLocalTarget();
    const first = await createWith(local, 'key-1', { name: 'one', ttlSeconds: 60 });
    const again = await local.call('POST', '/sandboxes', {
      rawBody: '{ "ttlSeconds": 60,  "name": "one" }',
      headers: { 'idempotency-key': 'key-1' },
    });
    expect(again.status).toBe(202);
    expect(again.body.sandbox.id).toBe(first.body.sandbox.id);
    expect(local.service.books.sandboxes()).toHaveLength(1);
  },
  { needs: ['local'] },
);

rule(['trap.S4', 'idempotency.key-reused'], 'the same key with another body is refused', async () => {
  const key = randomUUID();
  await createWith(target, key, { name: 'one' });
  const other = await createWith(target, key, { name: 'two' });
  expect(other.status).toBe(409);
  expect(other.body.code).toBe('idempotency_key_reused');
});

rule(
  ['trap.S4', 'idempotency.in-progress'],
  'the same key is in progress while the first create is being accepted',
  async () => {
    const local = await startLocalTarget({ timings: { acceptMs: 60_000 } });
    local.service.clock.hold();
    const both = [createWith(local, 'key-1', {}), createWith(local, 'key-1', {})];
    // The other one waits for the clock, so this one is answered first.
    expect(await Promise.race(both)).toMatchObject({ status: 409, body: { code: 'idempotency_in_progress' } });
    await local.service.clock.advance(60_000);
    const accepted = (await Promise.all(both)).find(({ status }) => status === 202);
    expect(accepted).toBeDefined();
    const after = await createWith(local, 'key-1', {});
    expect(after.body.sandbox.id).toBe(accepted?.body.sandbox.id);
    expect(local.service.books.sandboxes()).toHaveLength(1);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['trap.S4', 'idempotency.released'],
  'a key is released some time after a create that failed before the sandbox existed',
  async () => {
    const local = await startLocalTarget();
    local.service.clock.hold();
    await local.arm({ kind: 'create_fails' });
    expect(await createWith(local, 'key-1', {})).toMatchObject({ status: 500, body: { code: 'http_500' } });
    expect(await createWith(local, 'key-1', {})).toMatchObject({ body: { code: 'idempotency_in_progress' } });
    await local.service.clock.advance(120_000);
    expect((await createWith(local, 'key-1', {})).status).toBe(202);
    expect(local.service.books.sandboxes()).toHaveLength(1);
  },
  { needs: ['clock', 'faults', 'local'] },
);

rule(
  ['trap.S4', 'idempotency.24-hours'],
  'a key is valid for its retention time and not longer',
  async () => {
    const local = await startLocalTarget();
    local.service.clock.hold();
    const first = await createWith(local, 'key-1', {});
    expect((await createWith(local, 'key-1', {})).body.sandbox.id).toBe(first.body.sandbox.id);
    await local.service.clock.advance(24 * 3_600_000 - 1);
    expect((await createWith(local, 'key-1', {})).body.sandbox.id).toBe(first.body.sandbox.id);
    await local.service.clock.advance(1);
    expect((await createWith(local, 'key-1', {})).body.sandbox.id).not.toBe(first.body.sandbox.id);
  },
  { needs: ['clock'] },
);

rule(
  ['trap.S4', 'idempotency.after-5xx'],
  'a create whose answer was lost is found again by its key',
  async () => {
    const local = await startLocalTarget();
    await local.arm({ kind: 'drop_response', endpoint: 'createSandbox' });
    await expect(createWith(local, 'key-1', { name: 'lost' })).rejects.toThrow();
    const again = await createWith(local, 'key-1', { name: 'lost' });
    expect(again.status).toBe(202);
    expect(local.service.books.sandboxes({ name: 'lost' }).map(({ id }) => id)).toEqual([again.body.sandbox.id]);
  },
  { needs: ['faults', 'local'] },
);

rule(
  ['trap.S4', 'idempotency.after-5xx', 'fork.idempotent'],
  'a create or a fork that was answered with a 5xx is found again by its key',
  async () => {
    const local = await startLocalTarget();
    const source = await local.ready();
    const attempts = { createSandbox: '/sandboxes', forkSandbox: `/sandboxes/${source}/fork` };
    for (const [endpoint, path] of Object.entries(attempts)) {
      for (const status of [500, 502, 503]) {
        const name = `${endpoint}-${status}`;
        const send = () => local.call('POST', path, { body: { name }, headers: { 'idempotency-key': name } });
        await local.arm({ kind: 'drop_response', endpoint: endpoint as 'createSandbox', status });
        expect(await send()).toMatchObject({ status, body: { code: 'http_500' } });
        const again = await send();
        expect(again.status).toBe(202);
        expect(local.service.books.sandboxes({ name }).map(({ id }) => id)).toEqual([again.body.sandbox.id]);
      }
    }
  },
  { needs: ['faults', 'local'] },
);

rule(
  ['trap.S5', 'idempotency.same-sandbox'],
  'the key of a create that became cancelled keeps returning that sandbox',
  async () => {
    const local = await startLocalTarget();
    await local.arm({ kind: 'create_cancelled' });
    const first = await createWith(local, 'key-1', {});
    await local.reach(first.body.sandbox.id, 'cancelled');
    const again = await createWith(local, 'key-1', {});
    expect(again.body.sandbox).toMatchObject({ id: first.body.sandbox.id, state: 'cancelled' });
  },
  { needs: ['faults'] },
);

rule(
  ['idempotency.same-sandbox', 'sandbox.data-expired-at'],
  'the key of a sandbox that was deleted returns that sandbox, and not as usable',
  async () => {
    const key = randomUUID();
    const { id } = (await createWith(target, key, {})).body.sandbox;
    await target.reach(id, 'ready');
    await target.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': id } });
    await expect.poll(async () => (await target.call('GET', `/sandboxes/${id}`)).status).toBe(404);
    expect((await createWith(target, key, {})).body.sandbox).toMatchObject({
      id,
      state: 'archived',
      error: expect.stringMatching(/deleted/),
      dataExpiredAt: expect.any(String),
      snapshotAvailable: false,
      machineProvider: null,
    });
  },
);

rule(
  ['idempotency.released', 'errors.not-found'],
  'a refusal before anything has begun leaves the key free',
  async () => {
    const key = randomUUID();
    const unknown = await createWith(target, key, { from: 'no-such-snapshot' });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await createWith(target, key, { name: 'other' })).status).toBe(202);
  },
);
