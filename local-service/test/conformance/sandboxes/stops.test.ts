import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

rule(
  ['stops.same-id-while-pending', 'stops.post'],
  'a stop repeated while it is pending is the same stop, and so is one of an archived sandbox',
  async () => {
    const local = await startLocalTarget({ timings: { archiveMs: 60 } });
    const id = await local.ready();
    const first = await local.call('POST', `/sandboxes/${id}/stop`);
    const again = await local.call('POST', `/sandboxes/${id}/stop`);
    expect(again.body.id).toBe(first.body.id);
    await local.reach(id, 'archived');
    const afterwards = await local.call('POST', `/sandboxes/${id}/stop`);
    expect(afterwards).toMatchObject({ status: 202, body: { id: first.body.id, stop: { status: 'completed' } } });
    expect(local.service.books.stops({ sandboxId: id })).toHaveLength(1);
  },
  { needs: ['clock', 'local'] },
);

rule(
  'errors.machine-not-running',
  'a sandbox that is still being created cannot be stopped',
  async () => {
    const local = await startLocalTarget({ timings: { bootMs: 2_000 } });
    const id = await local.create();
    const refused = await local.call('POST', `/sandboxes/${id}/stop`);
    expect(refused).toMatchObject({ status: 400, body: { code: 'machine_not_running' } });
  },
  { needs: ['clock'] },
);

rule(
  [
    'trap.S7',
    'stops.failing',
    'stops.failing-retried',
    'stops.error',
    'stops.last-attempt-at',
    'states.archival-fails',
  ],
  'a failing stop says why, and is retried until the sandbox is archived',
  async () => {
    const local = await startLocalTarget({ timings: { stopRetryMs: 60_000 } });
    const id = await local.ready();
    await local.arm({ kind: 'stop_fails', times: 1 });
    const { body } = await local.call('POST', `/sandboxes/${id}/stop`);
    const stopOf = async () => (await local.call('GET', `/sandboxes/${id}/stops/${body.id}`)).body.stop;
    await expect.poll(async () => (await stopOf()).status).toBe('failing');
    expect(await stopOf()).toMatchObject({
      error: expect.any(String),
      lastAttemptAt: expect.any(String),
      endedAt: null,
    });
    expect((await local.call('GET', `/sandboxes/${id}`)).body.sandbox).toMatchObject({
      state: 'archiving',
      lastSnapshotStatus: 'failed',
    });
    await local.service.clock.advance(60_000);
    await local.reach(id, 'archived');
    expect(await stopOf()).toMatchObject({ id: body.id, status: 'completed', error: null });
  },
  { needs: ['clock', 'faults'] },
);

rule(
  ['trap.S7', 'stops.superseded', 'states.resume-supersedes', 'stops.ended-at'],
  'a resume supersedes a failing stop and keeps the disk as it was',
  async () => {
    const local = await startLocalTarget({ timings: { stopRetryMs: 60_000 } });
    const id = await local.ready();
    await local.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'kept', content: 'still here' } });
    await local.arm({ kind: 'stop_fails' });
    const { body } = await local.call('POST', `/sandboxes/${id}/stop`);
    const stopOf = async () => (await local.call('GET', `/sandboxes/${id}/stops/${body.id}`)).body.stop;
    await expect.poll(async () => (await stopOf()).status).toBe('failing');
    expect((await local.call('POST', `/sandboxes/${id}/resume`)).status).toBe(202);
    await local.reach(id, 'ready');
    expect(await stopOf()).toMatchObject({ status: 'superseded', error: null, endedAt: expect.any(String) });
    expect((await local.call('GET', `/sandboxes/${id}/files?path=kept`)).body.content).toBe('still here');
  },
  { needs: ['clock', 'faults'] },
);

rule(
  ['states.resume-supersedes', 'resume.restores'],
  'a resume that supersedes a stop keeps what was written since the previous snapshot',
  async () => {
    const local = await startLocalTarget({ timings: { stopRetryMs: 60_000 } });
    const id = await local.ready();
    await local.archive(id);
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    await local.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'newer', content: 'newer' } });
    await local.arm({ kind: 'stop_fails' });
    await local.call('POST', `/sandboxes/${id}/stop`);
    const stopOf = async () => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox.stop;
    await expect.poll(async () => (await stopOf())?.status).toBe('failing');
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    expect((await local.call('GET', `/sandboxes/${id}/files?path=newer`)).body.content).toBe('newer');
  },
  { needs: ['clock', 'faults'] },
);

rule(
  ['trap.S6', 'stops.get-old', 'stops.requested-at'],
  'the archived event has no stop id, and old stops stay readable after a later one',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.archived']);
    const id = await local.ready();
    const first = (await local.archive(id)).stop?.id;
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    const second = (await local.archive(id)).stop?.id;
    expect(second).not.toBe(first);
    const deliveries = await receiver.waitFor(2);
    for (const { rawBody } of deliveries) expect(rawBody.toString()).not.toContain('stop_');
    const old = await local.call('GET', `/sandboxes/${id}/stops/${first}`);
    expect(old.body.stop).toMatchObject({ id: first, status: 'completed', requestedAt: expect.any(String) });
  },
  { needs: ['local'] },
);

rule(
  ['stops.get-other-sandbox', 'stops.get-unknown'],
  'a stop of another sandbox and an unknown stop are not found',
  async () => {
    const [one, two] = [await target.ready(), await target.ready()];
    const stopId = (await target.archive(one)).stop?.id;
    expect((await target.call('GET', `/sandboxes/${two}/stops/${stopId}`)).status).toBe(404);
    expect((await target.call('GET', `/sandboxes/${one}/stops/stop_00`)).status).toBe(404);
  },
);

rule('sandboxes.resume', 'a resume of a usable sandbox changes nothing', async () => {
  const id = await target.ready();
  const record = async () => (await target.call('GET', `/sandboxes/${id}`)).body.sandbox;
  const before = await record();
  expect((await target.call('POST', `/sandboxes/${id}/resume`)).body.sandbox).toMatchObject({
    id,
    state: before.state,
  });
  expect(await record()).toEqual(before);
});

rule(
  ['resume.restores', 'stops.keeps-snapshots', 'sandboxes.resume', 'states.resume-archived'],
  'a resume restores the disk',
  async () => {
    const id = await target.ready();
    await target.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'dir/kept', content: 'saved' } });
    await target.archive(id);
    const away = await target.call('GET', `/sandboxes/${id}/files?path=dir/kept`);
    expect(away).toMatchObject({ status: 400, body: { code: 'machine_not_running' } });
    await target.call('POST', `/sandboxes/${id}/resume`);
    await target.reach(id, 'ready');
    expect((await target.call('GET', `/sandboxes/${id}/files?path=dir/kept`)).body.content).toBe('saved');
  },
);

rule(
  ['trap.S12', 'sandbox.data-expired-at', 'sandbox.data-expired-conflict', 'errors.snapshot-data-expired'],
  'data of a stopped sandbox expires, and a resume then reports it',
  async () => {
    const local = await startLocalTarget({ timings: { dataExpiryMs: 30 } });
    const id = await local.ready();
    await local.call('PATCH', `/sandboxes/${id}`, { body: { snapshotName: 'kept-for-a-while' } });
    await local.archive(id);
    const sandboxOf = async () => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    await expect.poll(async () => (await sandboxOf()).dataExpiredAt).not.toBeNull();
    expect((await sandboxOf()).snapshotAvailable).toBe(false);
    const refused = await local.call('POST', `/sandboxes/${id}/resume`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'snapshot_data_expired' } });
    const copy = await local.call('POST', '/sandboxes', { body: { from: 'kept-for-a-while' } });
    expect(copy).toMatchObject({ status: 409, body: { code: 'snapshot_data_expired' } });
  },
  { needs: ['clock'] },
);

rule(
  ['sandbox.snapshots-off', 'sandbox.snapshot-available', 'errors.resume-failed'],
  'with snapshots off a stop keeps nothing',
  async () => {
    const id = await target.ready({ snapshots: false });
    expect(await target.archive(id)).toMatchObject({
      snapshots: false,
      snapshotAvailable: false,
      lastSnapshotStatus: null,
    });
    expect(await target.call('POST', `/sandboxes/${id}/resume`)).toMatchObject({ body: { code: 'resume_failed' } });
  },
);

rule(
  ['create.from', 'snapshots.create-from-named'],
  'a create can start from a named snapshot, and the name moves to its latest snapshot',
  async () => {
    const make = async (content: string) => {
      const id = await target.ready();
      await target.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'which', content } });
      await target.call('PATCH', `/sandboxes/${id}`, { body: { snapshotName: 'template' } });
      await target.archive(id);
    };
    const contentOfCopy = async () => {
      const id = await target.ready({ from: 'template' });
      return (await target.call('GET', `/sandboxes/${id}/files?path=which`)).body.content;
    };
    await make('first');
    expect(await contentOfCopy()).toBe('first');
    await make('second');
    expect(await contentOfCopy()).toBe('second');
  },
);
