import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rule } from '../rule.js';
import { type LocalTarget, startLocalTarget, type Target, useTarget } from '../target/index.js';

const target = useTarget();

const write = (on: Target, id: string, content: string) =>
  on.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'file.txt', content } });
const latestOf = async (on: Target, id: string) => {
  const { status, body } = await on.call('GET', `/sandboxes/${id}/snapshots/latest`);
  return status === 200 ? body.snapshot.id : undefined;
};
const remove = (on: Target, snapshotId = '', confirmation = snapshotId) =>
  on.call('DELETE', `/snapshots/${snapshotId}`, { headers: { 'x-svc-confirm-delete': confirmation } });
const operationStatus = async (on: Target, operationId: string) =>
  (await on.call('GET', `/deletion-operations/${operationId}`)).body.status;
/** The content of the service's disks, independent of its records. */
const snapshotsOnDisk = ({ directory }: LocalTarget) => readdir(join(directory, 'machines', 'snapshots'));

async function archived(on: Target): Promise<{ readonly id: string; readonly snapshotId: string }> {
  const id = await on.ready();
  await write(on, id, 'kept');
  await on.archive(id);
  return { id, snapshotId: (await latestOf(on, id)) ?? '' };
}

rule(
  ['deletion.snapshot', 'deletion.poll', 'deletion.confirm-exact'],
  'a snapshot is deleted with its id as confirmation, as an operation that can be polled to completed',
  async () => {
    const { id, snapshotId } = await archived(target);
    expect(await remove(target, snapshotId, id)).toMatchObject({
      status: 400,
      body: { code: 'confirmation_required' },
    });
    const { status, body } = await remove(target, snapshotId);
    expect(status).toBe(202);
    expect(body).toMatchObject({ type: 'snapshot.deleting', operation: { id: body.operationId, snapshotId } });
    await expect.poll(() => operationStatus(target, body.operationId)).toBe('completed');
    expect(await target.call('GET', `/snapshots/${snapshotId}/tree`)).toMatchObject({ status: 404 });
    expect(await remove(target, snapshotId)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await latestOf(target, id)).toBeUndefined();
    const { sandbox } = (await target.call('GET', `/sandboxes/${id}`)).body;
    expect(sandbox).toMatchObject({ state: 'archived', snapshotAvailable: false, snapshotCompletedAt: null });
    const resumed = await target.call('POST', `/sandboxes/${id}/resume`);
    expect(resumed).toMatchObject({ status: 409, body: { code: 'resume_failed' } });
    const forked = await target.call('POST', `/sandboxes/${id}/fork`);
    expect(forked).toMatchObject({ status: 409, body: { code: 'fork_failed' } });
  },
);

rule(
  'deletion.snapshot',
  'an accepted deletion hides the snapshot, and repeating the call returns the same operation',
  async () => {
    const local = await startLocalTarget({ timings: { deleteMs: 60_000 } });
    const { id, snapshotId } = await archived(local);
    local.service.clock.hold();
    const first = await remove(local, snapshotId);
    expect((await remove(local, snapshotId)).body.operationId).toBe(first.body.operationId);
    expect((await local.call('GET', '/snapshots')).body.snapshots).toEqual([]);
    expect((await local.call('GET', `/sandboxes/${id}`)).body.sandbox.snapshotAvailable).toBe(false);
    expect(await operationStatus(local, first.body.operationId)).toBe('pending');
    await local.service.clock.advance(60_000);
    expect(await operationStatus(local, first.body.operationId)).toBe('completed');
    expect(await snapshotsOnDisk(local)).toEqual([]);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['deletion.snapshot', 'fork.from-archived'],
  'a fork in creation keeps its snapshot until it has its disk, whatever is deleted meanwhile',
  async () => {
    const local = await startLocalTarget({ timings: { bootMs: 60_000, deleteMs: 0 } });
    local.service.clock.hold();
    const id = await local.create();
    await local.service.clock.advance(60_000);
    await write(local, id, 'kept');
    await local.call('POST', `/sandboxes/${id}/stop`);
    await local.service.clock.advance(1_000);
    const snapshotId = await latestOf(local, id);
    const fork = (await local.call('POST', `/sandboxes/${id}/fork`)).body.sandbox.id;
    const { operationId } = (await remove(local, snapshotId)).body;
    const headers = { 'x-svc-confirm-delete': id };
    const ofSource = (await local.call('DELETE', `/sandboxes/${id}`, { headers })).body.operationId;
    await local.service.clock.advance(1_000);
    expect(await operationStatus(local, operationId)).toBe('running');
    expect(await operationStatus(local, ofSource)).toBe('completed');
    await local.service.clock.advance(60_000);
    expect((await local.call('GET', `/sandboxes/${fork}/files?path=file.txt`)).body.content).toBe('kept');
    expect(await operationStatus(local, operationId)).toBe('completed');
    expect(await snapshotsOnDisk(local)).toEqual([]);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['deletion.snapshot', 'snapshots.latest'],
  'without its latest snapshot a sandbox has the previous named one',
  async () => {
    const local = await startLocalTarget();
    const { id, snapshotId } = await archived(local);
    await local.call('PATCH', `/sandboxes/${id}`, { body: { snapshotName: 'earlier' } });
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    await write(local, id, 'later');
    await local.archive(id);
    expect((await local.call('GET', `/sandboxes/${id}/snapshots`)).body.snapshots).toHaveLength(2);
    await remove(local, await latestOf(local, id));
    expect(await latestOf(local, id)).toBe(snapshotId);
    await local.call('POST', `/sandboxes/${id}/resume`);
    await local.reach(id, 'ready');
    expect((await local.call('GET', `/sandboxes/${id}/files?path=file.txt`)).body.content).toBe('kept');
  },
  { needs: ['local'] },
);

rule(
  ['fork.from-usable', 'snapshots.list-of-sandbox'],
  'forks of a usable sandbox leave one snapshot of it, and none if its snapshots are off',
  async () => {
    const local = await startLocalTarget();
    for (const snapshots of [true, false]) {
      const source = await local.ready({ snapshots });
      const forks: string[] = [];
      for (let count = 0; count < 3; count++) {
        forks.push((await local.call('POST', `/sandboxes/${source}/fork`)).body.sandbox.id);
      }
      for (const id of forks) await local.reach(id, 'ready');
      const kept = async () => (await local.call('GET', `/sandboxes/${source}/snapshots`)).body.snapshots.length;
      await expect.poll(kept).toBe(snapshots ? 1 : 0);
    }
    await expect.poll(async () => (await snapshotsOnDisk(local)).length).toBe(1);
  },
  { needs: ['local'] },
);

rule(
  'fork.from-archived',
  'data that expires during a fork is deleted when the fork has its disk',
  async () => {
    const local = await startLocalTarget({ timings: { bootMs: 60_000, dataExpiryMs: 70_000 } });
    local.service.clock.hold();
    const id = await local.create();
    await local.service.clock.advance(60_000);
    await write(local, id, 'kept');
    await local.call('POST', `/sandboxes/${id}/stop`);
    await local.service.clock.advance(30_000);
    const fork = (await local.call('POST', `/sandboxes/${id}/fork`)).body.sandbox.id;
    await local.service.clock.advance(50_000);
    expect((await local.call('GET', `/sandboxes/${id}`)).body.sandbox.dataExpiredAt).not.toBeNull();
    expect(await snapshotsOnDisk(local)).toHaveLength(1);
    await local.service.clock.advance(20_000);
    expect((await local.call('GET', `/sandboxes/${fork}/files?path=file.txt`)).body.content).toBe('kept');
    expect(await snapshotsOnDisk(local)).toEqual([]);
  },
  { needs: ['clock', 'local'] },
);
