import { expect } from 'vitest';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

rule(
  [
    'sandbox.snapshot-available',
    'sandbox.snapshot-completed-at',
    'sandbox.snapshot-verified-at',
    'sandbox.last-snapshot-attempt-at',
    'sandbox.last-snapshot-status',
  ],
  'a sandbox has no snapshot until it has been stopped, and then its times and status show completion',
  async () => {
    const id = await target.ready();
    const { body } = await target.call('GET', `/sandboxes/${id}`);
    expect(body.sandbox).toMatchObject({
      snapshotAvailable: false,
      snapshotCompletedAt: null,
      snapshotVerifiedAt: null,
      lastSnapshotAttemptAt: null,
      lastSnapshotStatus: null,
    });
    const archived = await target.archive(id);
    expect(archived).toMatchObject({ snapshotAvailable: true, lastSnapshotStatus: 'completed' });
    const completed = Date.parse(archived.snapshotCompletedAt ?? '');
    expect(Date.parse(archived.snapshotVerifiedAt ?? '')).toBeGreaterThanOrEqual(completed);
    expect(Date.parse(archived.lastSnapshotAttemptAt ?? '')).toBeGreaterThanOrEqual(completed);
  },
);

rule(
  ['sandbox.snapshot-verified-nothing-new', 'sandbox.snapshot-verified-at', 'stops.keeps-snapshots'],
  'a check that finds nothing new moves the verified time, and keeps the snapshot with its time and its files',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready({ ttlSeconds: null });
    await local.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'kept', content: 'yes' } });
    const first = await local.archive(id);
    const latest = async () => (await local.call('GET', `/sandboxes/${id}/snapshots/latest`)).body.snapshot.id;
    const snapshotId = await latest();
    await local.service.clock.advance(60_000);
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    await local.call('PATCH', `/sandboxes/${id}`, { body: { snapshotName: 'still-the-same' } });
    await local.arm({ kind: 'snapshot_unchanged' });
    const second = await local.archive(id);
    expect(second).toMatchObject({
      lastSnapshotStatus: 'completed',
      snapshotAvailable: true,
      snapshotCompletedAt: first.snapshotCompletedAt,
      lastSnapshotAttemptAt: second.snapshotVerifiedAt,
    });
    const passed = Date.parse(second.snapshotVerifiedAt ?? '') - Date.parse(first.snapshotVerifiedAt ?? '');
    expect(passed).toBeGreaterThanOrEqual(60_000);
    expect(await latest()).toBe(snapshotId);
    expect((await local.call('POST', '/sandboxes', { body: { from: 'still-the-same' } })).status).toBe(202);
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    expect((await local.call('GET', `/sandboxes/${id}/files?path=kept`)).body.content).toBe('yes');
  },
  { needs: ['clock', 'faults', 'local'] },
);

rule(
  'sandbox.snapshot-verified-at',
  'a snapshot that completes updates snapshotVerifiedAt',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready({ ttlSeconds: null });
    const first = await local.archive(id);
    await local.service.clock.advance(60_000);
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    const second = await local.archive(id);
    const passed = Date.parse(second.snapshotVerifiedAt ?? '') - Date.parse(first.snapshotVerifiedAt ?? '');
    expect(passed).toBeGreaterThanOrEqual(60_000);
  },
  { needs: ['clock'] },
);

rule(
  [
    'sandbox.failing-snapshots',
    'sandbox.last-snapshot-status',
    'sandbox.last-snapshot-attempt-at',
    'sandbox.snapshot-verified-at',
  ],
  'a failed snapshot shows in the status and time of the attempt, beside the time of the previous one',
  async () => {
    const local = await startLocalTarget({ timings: { stopRetryMs: 60_000 } });
    const id = await local.ready();
    const before = await local.archive(id);
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    await local.service.clock.advance(1_000);
    await local.arm({ kind: 'stop_fails' });
    await local.call('POST', `/sandboxes/${id}/stop`);
    const read = async () => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    await expect.poll(async () => (await read()).lastSnapshotStatus).toBe('failed');
    const after = await read();
    expect(after.snapshotCompletedAt).toBe(before.snapshotCompletedAt);
    expect(after.snapshotVerifiedAt).toBe(before.snapshotVerifiedAt);
    expect(Date.parse(after.lastSnapshotAttemptAt ?? '')).toBeGreaterThan(Date.parse(before.snapshotCompletedAt ?? ''));
  },
  { needs: ['faults', 'clock'] },
);

rule(
  ['sandbox.last-snapshot-status', 'sandbox.last-snapshot-attempt-at'],
  'a snapshot is queued when a stop begins, and cancelled when a resume ends the stop first',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready({ ttlSeconds: null });
    const bare = await local.ready({ snapshots: false });
    local.service.clock.hold();
    const read = async (one: string) => (await local.call('GET', `/sandboxes/${one}`)).body.sandbox;
    for (const one of [id, bare]) await local.call('POST', `/sandboxes/${one}/stop`);
    expect(await read(id)).toMatchObject({ lastSnapshotStatus: 'queued', lastSnapshotAttemptAt: expect.any(String) });
    expect(await read(bare)).toMatchObject({ lastSnapshotStatus: null, lastSnapshotAttemptAt: null });
    await local.call('POST', `/sandboxes/${id}/resume`);
    expect(await read(id)).toMatchObject({ lastSnapshotStatus: 'cancelled', snapshotAvailable: false });
  },
  { needs: ['clock', 'local'] },
);
