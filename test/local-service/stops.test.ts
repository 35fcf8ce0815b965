import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';
import { register, startReceiver } from './webhook-receiver.js';

test('a stop repeated while it is pending is the same stop, and so is one on an archived sandbox', async () => {
  const under = await startService({ timings: { archiveMs: 60 } });
  const id = await under.ready();
  const first = await under.call('POST', `/sandboxes/${id}/stop`);
  const again = await under.call('POST', `/sandboxes/${id}/stop`);
  expect(again.body.id).toBe(first.body.id);
  await under.reach(id, 'archived');
  const afterwards = await under.call('POST', `/sandboxes/${id}/stop`);
  expect(afterwards).toMatchObject({ status: 202, body: { id: first.body.id, stop: { status: 'completed' } } });
  expect(under.service.books.stops({ sandboxId: id })).toHaveLength(1);
});

test('a sandbox that is still being created cannot be stopped', async () => {
  const under = await startService({ timings: { bootMs: 2_000 } });
  const id = await under.create();
  const refused = await under.call('POST', `/sandboxes/${id}/stop`);
  expect(refused).toMatchObject({ status: 400, body: { code: 'machine_not_running' } });
});

test('S7: a stop that fails says why, and is retried until the sandbox is archived', async () => {
  const under = await startService({ timings: { stopRetryMs: 150 } });
  const id = await under.ready();
  await under.arm({ kind: 'stop_fails', times: 1 });
  const { body } = await under.call('POST', `/sandboxes/${id}/stop`);
  const stopOf = async () => (await under.call('GET', `/sandboxes/${id}/stops/${body.id}`)).body.stop;
  await expect.poll(async () => (await stopOf()).status, { timeout: 5_000, interval: 5 }).toBe('failing');
  expect(await stopOf()).toMatchObject({ error: expect.any(String), lastAttemptAt: expect.any(String), endedAt: null });
  expect((await under.call('GET', `/sandboxes/${id}`)).body.sandbox).toMatchObject({
    state: 'archiving',
    lastSnapshotStatus: 'failed',
  });
  await under.reach(id, 'archived');
  expect(await stopOf()).toMatchObject({ id: body.id, status: 'completed', error: null });
});

test('S7: a resume supersedes a failing stop and keeps the disk as it was', async () => {
  const under = await startService({ timings: { stopRetryMs: 60_000 } });
  const id = await under.ready();
  await under.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'kept', content: 'still here' } });
  await under.arm({ kind: 'stop_fails' });
  const { body } = await under.call('POST', `/sandboxes/${id}/stop`);
  const stopOf = async () => (await under.call('GET', `/sandboxes/${id}/stops/${body.id}`)).body.stop;
  await expect.poll(async () => (await stopOf()).status, { timeout: 5_000 }).toBe('failing');
  expect((await under.call('POST', `/sandboxes/${id}/resume`)).status).toBe(202);
  await under.reach(id, 'ready');
  expect(await stopOf()).toMatchObject({ status: 'superseded', error: null, endedAt: expect.any(String) });
  expect((await under.call('GET', `/sandboxes/${id}/files?path=kept`)).body.content).toBe('still here');
});

test('a resume that supersedes a stop keeps what was written since the snapshot before', async () => {
  const under = await startService({ timings: { stopRetryMs: 60_000 } });
  const id = await under.ready();
  await under.archive(id);
  await under.call('POST', `/sandboxes/${id}/resume`);
  await under.reach(id, 'ready');
  await under.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'newer', content: 'newer' } });
  await under.arm({ kind: 'stop_fails' });
  await under.call('POST', `/sandboxes/${id}/stop`);
  const stopOf = async () => (await under.call('GET', `/sandboxes/${id}`)).body.sandbox.stop;
  await expect.poll(async () => (await stopOf())?.status, { timeout: 5_000 }).toBe('failing');
  await under.call('POST', `/sandboxes/${id}/resume`);
  await under.reach(id, 'ready');
  expect((await under.call('GET', `/sandboxes/${id}/files?path=newer`)).body.content).toBe('newer');
});

test('S6: the archived event carries no stop id, and old stops stay readable after a later one', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  await register(under, receiver.url, ['sandbox.archived']);
  const id = await under.ready();
  const first = (await under.archive(id)).stop?.id;
  await under.call('POST', `/sandboxes/${id}/resume`);
  await under.reach(id, 'ready');
  const second = (await under.archive(id)).stop?.id;
  expect(second).not.toBe(first);
  const deliveries = await receiver.waitFor(2);
  for (const { rawBody } of deliveries) expect(rawBody.toString()).not.toContain('stop_');
  const old = await under.call('GET', `/sandboxes/${id}/stops/${first}`);
  expect(old.body.stop).toMatchObject({ id: first, status: 'completed', requestedAt: expect.any(String) });
});

test('a stop of another sandbox, and an unknown one, are not found', async () => {
  const under = await startService();
  const [one, two] = [await under.ready(), await under.ready()];
  const stopId = (await under.archive(one)).stop?.id;
  expect((await under.call('GET', `/sandboxes/${two}/stops/${stopId}`)).status).toBe(404);
  expect((await under.call('GET', `/sandboxes/${one}/stops/stop_00`)).status).toBe(404);
});

test('a resume on a usable sandbox changes nothing', async () => {
  const under = await startService();
  const id = await under.ready();
  const before = (await under.call('GET', `/sandboxes/${id}`)).body.sandbox;
  expect((await under.call('POST', `/sandboxes/${id}/resume`)).body.sandbox).toEqual(before);
});

test('a resume brings the disk back', async () => {
  const under = await startService();
  const id = await under.ready();
  await under.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'dir/kept', content: 'saved' } });
  await under.archive(id);
  const away = await under.call('GET', `/sandboxes/${id}/files?path=dir/kept`);
  expect(away).toMatchObject({ status: 400, body: { code: 'machine_not_running' } });
  await under.call('POST', `/sandboxes/${id}/resume`);
  await under.reach(id, 'ready');
  expect((await under.call('GET', `/sandboxes/${id}/files?path=dir/kept`)).body.content).toBe('saved');
});

test('S12: data of a stopped sandbox expires, and a resume then says so', async () => {
  const under = await startService({ timings: { dataExpiryMs: 30 } });
  const id = await under.ready();
  await under.call('PATCH', `/sandboxes/${id}`, { body: { snapshotName: 'kept-for-a-while' } });
  await under.archive(id);
  const sandboxOf = async () => (await under.call('GET', `/sandboxes/${id}`)).body.sandbox;
  await expect.poll(async () => (await sandboxOf()).dataExpiredAt, { timeout: 5_000 }).not.toBeNull();
  expect((await sandboxOf()).snapshotAvailable).toBe(false);
  const refused = await under.call('POST', `/sandboxes/${id}/resume`);
  expect(refused).toMatchObject({ status: 409, body: { code: 'snapshot_data_expired' } });
  const copy = await under.call('POST', '/sandboxes', { body: { from: 'kept-for-a-while' } });
  expect(copy).toMatchObject({ status: 409, body: { code: 'snapshot_data_expired' } });
});

test('with snapshots off a stop keeps nothing', async () => {
  const under = await startService();
  const id = await under.ready({ snapshots: false });
  expect(await under.archive(id)).toMatchObject({
    snapshots: false,
    snapshotAvailable: false,
    lastSnapshotStatus: null,
  });
  expect(await under.call('POST', `/sandboxes/${id}/resume`)).toMatchObject({ body: { code: 'resume_failed' } });
});

test('a named snapshot is what a create can start from, and the name moves to where it is given last', async () => {
  const under = await startService();
  const make = async (content: string) => {
    const id = await under.ready();
    await under.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'which', content } });
    await under.call('PATCH', `/sandboxes/${id}`, { body: { snapshotName: 'template' } });
    await under.archive(id);
  };
  const contentOfCopy = async () => {
    const id = await under.ready({ from: 'template' });
    return (await under.call('GET', `/sandboxes/${id}/files?path=which`)).body.content;
  };
  await make('first');
  expect(await contentOfCopy()).toBe('first');
  await make('second');
  expect(await contentOfCopy()).toBe('second');
});
