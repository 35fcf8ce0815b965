import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';

test('the call log has each call once, with its result', async () => {
  const under = await startService();
  const { body } = await under.call('POST', '/sandboxes', {
    body: { name: 'kept' },
    headers: { 'idempotency-key': 'k' },
  });
  await under.call('GET', '/sandboxes/bx_22222222');
  await under.call('GET', '/nowhere');
  const { id } = body.sandbox;
  await expect
    .poll(() => under.service.books.calls())
    .toMatchObject([
      {
        endpoint: 'createSandbox',
        status: 202,
        outcome: 'answered',
        accepted: true,
        idempotencyKey: 'k',
        sandboxId: id,
      },
      { endpoint: 'getSandbox', status: 404, outcome: 'answered', accepted: false, sandboxId: 'bx_22222222' },
      { endpoint: 'unknown', status: 404, path: '/v1/nowhere' },
    ]);
  const byName = await under.call('GET', '/books?name=kept', { admin: true });
  expect(byName.body).toMatchObject({ calls: [{ endpoint: 'createSandbox' }], sandboxes: [{ id }] });
  const { summary } = (await under.call('GET', '/books/summary', { admin: true })).body;
  expect(summary).toMatchObject({ byEndpoint: { createSandbox: 1, getSandbox: 1, unknown: 1 }, sandboxes: 1 });
});

test('the call log drops the oldest calls and still counts them', async () => {
  const under = await startService({ maxCallRecords: 10 });
  for (let index = 0; index < 25; index++) await under.call('GET', `/me?limit=${index}`);
  await expect.poll(() => under.service.books.summary().byEndpoint.getMe).toBe(25);
  const calls = under.service.books.calls();
  expect(calls).toHaveLength(10);
  expect(calls.at(-1)?.path).toBe('/v1/me?limit=24');
});

test('the service can imitate one that keeps no names and one that sends unlisted fields', async () => {
  const under = await startService({ deviations: ['A-create-fields', 'extra-fields'] });
  const { body } = await under.call('POST', '/sandboxes', { body: { name: 'mine' } });
  expect(body.sandbox.name).not.toBe('mine');
  expect(body.sandbox).toMatchObject({ unlisted: expect.any(String) });
  const patched = await under.call('PATCH', `/sandboxes/${body.sandbox.id}`, { body: { name: 'mine' } });
  expect(patched.body.sandbox.name).toBe('mine');
});
