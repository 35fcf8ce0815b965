import { expect, test } from 'vitest';
import { type ServiceUnderTest, startService } from './service-under-test.js';

const createWith = (under: ServiceUnderTest, key: string, body: unknown) =>
  under.call('POST', '/sandboxes', { body, headers: { 'idempotency-key': key } });

test('S4: the same key and body return the original sandbox; key order and white space do not matter', async () => {
  const under = await startService();
  const first = await createWith(under, 'key-1', { name: 'one', ttlSeconds: 60 });
  const again = await under.call('POST', '/sandboxes', {
    rawBody: '{ "ttlSeconds": 60,  "name": "one" }',
    headers: { 'idempotency-key': 'key-1' },
  });
  expect(again.status).toBe(202);
  expect(again.body.sandbox.id).toBe(first.body.sandbox.id);
  expect(under.service.books.sandboxes()).toHaveLength(1);
});

test('S4: the same key with another body is refused', async () => {
  const under = await startService();
  await createWith(under, 'key-1', { name: 'one' });
  const other = await createWith(under, 'key-1', { name: 'two' });
  expect(other.status).toBe(409);
  expect(other.body.code).toBe('idempotency_key_reused');
});

test('S4: while the first create is being accepted, the same key is in progress', async () => {
  const under = await startService({ timings: { acceptMs: 300 } });
  const answers = await Promise.all([createWith(under, 'key-1', {}), createWith(under, 'key-1', {})]);
  const [accepted, refused] = answers.sort((one, other) => one.status - other.status);
  expect(refused).toMatchObject({ status: 409, body: { code: 'idempotency_in_progress' } });
  expect(accepted?.status).toBe(202);
  const after = await createWith(under, 'key-1', {});
  expect(after.body.sandbox.id).toBe(accepted?.body.sandbox.id);
  expect(under.service.books.sandboxes()).toHaveLength(1);
});

test('S4: a key is released some time after a create that failed before the sandbox existed', async () => {
  const under = await startService({ timings: { idempotencyReleaseMs: 150 } });
  await under.arm({ kind: 'create_fails' });
  expect(await createWith(under, 'key-1', {})).toMatchObject({ status: 500, body: { code: 'http_500' } });
  expect(await createWith(under, 'key-1', {})).toMatchObject({ body: { code: 'idempotency_in_progress' } });
  await expect.poll(async () => (await createWith(under, 'key-1', {})).status, { timeout: 5_000 }).toBe(202);
  expect(under.service.books.sandboxes()).toHaveLength(1);
});

test('S4: a key counts for its retention time and not longer', async () => {
  const under = await startService({ timings: { idempotencyKeyMs: 200 } });
  const first = await createWith(under, 'key-1', {});
  expect((await createWith(under, 'key-1', {})).body.sandbox.id).toBe(first.body.sandbox.id);
  await expect
    .poll(async () => (await createWith(under, 'key-1', {})).body.sandbox.id, { timeout: 5_000 })
    .not.toBe(first.body.sandbox.id);
});

test('S4: a create whose answer was lost is found again by its key', async () => {
  const under = await startService();
  await under.arm({ kind: 'drop_response', endpoint: 'createSandbox' });
  await expect(createWith(under, 'key-1', { name: 'lost' })).rejects.toThrow();
  const again = await createWith(under, 'key-1', { name: 'lost' });
  expect(again.status).toBe(202);
  expect(under.service.books.sandboxes({ name: 'lost' }).map(({ id }) => id)).toEqual([again.body.sandbox.id]);
});

test('S5: the key of a create that became cancelled keeps returning that sandbox', async () => {
  const under = await startService();
  await under.arm({ kind: 'create_cancelled' });
  const first = await createWith(under, 'key-1', {});
  await under.reach(first.body.sandbox.id, 'cancelled');
  const again = await createWith(under, 'key-1', {});
  expect(again.body.sandbox).toMatchObject({ id: first.body.sandbox.id, state: 'cancelled' });
});

test('a refusal before anything has begun leaves the key free', async () => {
  const under = await startService();
  const unknown = await createWith(under, 'key-1', { from: 'no-such-snapshot' });
  expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await createWith(under, 'key-1', { name: 'other' })).status).toBe(202);
});
