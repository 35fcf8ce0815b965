/** `lastSnapshotStatus` while snapshots are taken, at a stop and at intervals. */
import { expect } from 'vitest';
import { rule } from '../rule.js';
import { type LocalTarget, startLocalTarget } from '../target/index.js';

const everyMs = 3_600_000;
const tookMs = 5_000;

const read = async (on: LocalTarget, id: string) => (await on.call('GET', `/sandboxes/${id}`)).body.sandbox;
const write = (on: LocalTarget, id: string, content: string) =>
  on.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'file', content } });
const snapshotsOf = async (on: LocalTarget, id: string) =>
  (await on.call('GET', `/sandboxes/${id}/snapshots`)).body.snapshots;

/** A ready sandbox without auto-stop, on a held clock. */
async function saved(timings: object): Promise<{ readonly local: LocalTarget; readonly id: string }> {
  const local = await startLocalTarget({ timings: { bootMs: 0, ...timings } });
  local.service.clock.hold();
  const id = await local.ready({ ttlSeconds: null });
  return { local, id };
}

rule(
  ['sandbox.last-snapshot-in-progress', 'sandbox.last-snapshot-status', 'sandbox.last-snapshot-attempt-at'],
  'the snapshot of a stop is queued, then in progress, then completed',
  async () => {
    const { local, id } = await saved({ archiveMs: 1_000, snapshotMs: tookMs });
    await local.call('POST', `/sandboxes/${id}/stop`);
    expect((await read(local, id)).lastSnapshotStatus).toBe('queued');
    await local.service.clock.advance(1_000);
    const during = await read(local, id);
    expect(during).toMatchObject({ state: 'archiving', lastSnapshotStatus: 'in_progress', snapshotAvailable: false });
    expect(during.lastSnapshotAttemptAt).toBe(local.service.clock.iso());
    await local.service.clock.advance(tookMs);
    expect(await read(local, id)).toMatchObject({ state: 'archived', lastSnapshotStatus: 'completed' });
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['sandbox.last-snapshot-status', 'states.resume-supersedes'],
  'a resume cancels a snapshot in progress, and leaves none behind',
  async () => {
    const { local, id } = await saved({ archiveMs: 1_000, snapshotMs: tookMs });
    await local.call('POST', `/sandboxes/${id}/stop`);
    await local.service.clock.advance(1_000);
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.service.clock.advance(2 * tookMs);
    const { state, stop, lastSnapshotStatus } = await read(local, id);
    expect([state, stop?.status, lastSnapshotStatus]).toEqual(['ready', 'superseded', 'cancelled']);
    expect(await snapshotsOf(local, id)).toEqual([]);
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['sandbox.snapshot-completed-at', 'sandbox.last-snapshot-in-progress', 'snapshots.list-of-sandbox'],
  'a usable sandbox is saved at the interval of the settings, while it works on, and its updatedAt stays',
  async () => {
    const { local, id } = await saved({ snapshotEveryMs: everyMs, snapshotMs: tookMs });
    await write(local, id, 'first');
    const { updatedAt } = await read(local, id);
    await local.service.clock.advance(everyMs);
    expect(await read(local, id)).toMatchObject({ state: 'ready', lastSnapshotStatus: 'in_progress', updatedAt });
    expect((await local.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'cat file' } })).body.stdout).toBe(
      'first',
    );
    await local.service.clock.advance(tookMs);
    const first = await read(local, id);
    expect(first).toMatchObject({ lastSnapshotStatus: 'completed', snapshotAvailable: true, updatedAt });
    expect(first.snapshotCompletedAt).toBe(local.service.clock.iso());
    await write(local, id, 'second');
    await local.service.clock.advance(everyMs + tookMs);
    const [one, two] = await snapshotsOf(local, id);
    expect((await local.call('GET', `/snapshots/${one?.id}/files?path=file`)).text).toBe('first');
    expect((await local.call('GET', `/snapshots/${two?.id}/files?path=file`)).text).toBe('second');
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['sandbox.snapshot-verified-nothing-new', 'sandbox.snapshot-verified-at'],
  'a periodic check that finds nothing new keeps the snapshot and moves the verified time',
  async () => {
    const { local, id } = await saved({ snapshotEveryMs: everyMs });
    await write(local, id, 'kept');
    await local.service.clock.advance(everyMs);
    const first = await read(local, id);
    await local.service.clock.advance(everyMs);
    const second = await read(local, id);
    expect(second).toMatchObject({ snapshotCompletedAt: first.snapshotCompletedAt, lastSnapshotStatus: 'completed' });
    expect(Date.parse(second.snapshotVerifiedAt ?? '') - Date.parse(first.snapshotVerifiedAt ?? '')).toBe(everyMs);
    expect(await snapshotsOf(local, id)).toHaveLength(1);
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['sandbox.failing-snapshots', 'sandbox.last-snapshot-status'],
  'a failing periodic snapshot shows beside the time of the last complete one, and the next one is tried',
  async () => {
    const { local, id } = await saved({ snapshotEveryMs: everyMs });
    await local.service.clock.advance(everyMs);
    const { snapshotCompletedAt } = await read(local, id);
    await local.arm({ kind: 'snapshot_fails' });
    await write(local, id, 'new');
    await local.service.clock.advance(everyMs);
    const failed = await read(local, id);
    expect(failed).toMatchObject({ state: 'ready', lastSnapshotStatus: 'failed', snapshotCompletedAt });
    expect(failed.lastSnapshotAttemptAt).toBe(local.service.clock.iso());
    await local.service.clock.advance(everyMs);
    expect(await read(local, id)).toMatchObject({
      lastSnapshotStatus: 'completed',
      snapshotCompletedAt: local.service.clock.iso(),
    });
  },
  { needs: ['local', 'clock', 'faults'] },
);

rule(
  ['sandbox.snapshots-off', 'sandbox.last-snapshot-status'],
  'no periodic snapshot is taken with snapshots off, nor of a stopped sandbox',
  async () => {
    const local = await startLocalTarget({ timings: { snapshotEveryMs: everyMs } });
    const off = await local.ready({ ttlSeconds: null, snapshots: false });
    const stopped = await local.ready({ ttlSeconds: null });
    await local.archive(stopped);
    const before = await snapshotsOf(local, stopped);
    local.service.clock.hold();
    await local.service.clock.advance(3 * everyMs);
    expect((await read(local, off)).lastSnapshotStatus).toBeNull();
    expect(await snapshotsOf(local, stopped)).toEqual(before);
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['sandbox.snapshot-completed-at'],
  'periodic snapshots continue after a restart of the service, also if the settings only now ask for them',
  async () => {
    const first = await startLocalTarget();
    const id = await first.ready({ ttlSeconds: null });
    await first.service.close();
    const second = await startLocalTarget({
      directory: first.directory,
      timings: { snapshotEveryMs: everyMs },
    });
    expect((await read(second, id)).snapshotAvailable).toBe(false);
    await second.service.clock.advance(everyMs);
    expect((await read(second, id)).snapshotAvailable).toBe(true);
  },
  { needs: ['local', 'clock'] },
);
