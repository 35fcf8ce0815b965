import { expect } from 'vitest';
import { rule } from '../rule.js';
import { untar } from '../sandboxes/archives.js';
import { startLocalTarget, type Target, useTarget } from '../target/index.js';

const target = useTarget();

const write = (on: Target, id: string, path: string, content: string) =>
  on.call('PUT', `/sandboxes/${id}/files`, { body: { path, content } });

/** A sandbox with a file in its home and one in a folder, archived. */
async function archived(on: Target, more: object = {}): Promise<{ readonly id: string; readonly snapshotId: string }> {
  const id = await on.ready({ ...more });
  await write(on, id, 'top.txt', 'at the top');
  await write(on, id, 'folder/inner.txt', 'inside');
  await on.archive(id);
  const { body } = await on.call('GET', `/sandboxes/${id}/snapshots/latest`);
  return { id, snapshotId: body.snapshot.id };
}

rule(
  ['snapshots.list', 'snapshots.list-of-sandbox', 'snapshots.latest'],
  'a stop creates a snapshot that every list of snapshots shows alike',
  async () => {
    const { id, snapshotId } = await archived(target);
    const other = await archived(target);
    const latest = (await target.call('GET', `/sandboxes/${id}/snapshots/latest`)).body.snapshot;
    expect(latest).toMatchObject({ id: snapshotId, sandboxId: id, name: null, status: 'completed' });
    expect(latest.sizeBytes).toBe('at the top'.length + 'inside'.length);
    const { sandbox } = (await target.call('GET', `/sandboxes/${id}`)).body;
    expect(latest.completedAt).toBe(sandbox.snapshotCompletedAt);
    expect(Date.parse(latest.createdAt ?? '')).toBeLessThanOrEqual(Date.parse(latest.completedAt ?? ''));
    expect((await target.call('GET', `/sandboxes/${id}/snapshots`)).body.snapshots).toEqual([latest]);
    const all = (await target.call('GET', '/snapshots')).body.snapshots;
    expect(all).toContainEqual(latest);
    expect(all.map((snapshot) => snapshot.id)).toContain(other.snapshotId);
  },
);

rule(['snapshots.latest', 'errors.not-found'], 'a sandbox that was never stopped has no snapshot', async () => {
  const id = await target.ready();
  const latest = await target.call('GET', `/sandboxes/${id}/snapshots/latest`);
  expect(latest).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await target.call('GET', `/sandboxes/${id}/snapshots`)).body.snapshots).toEqual([]);
  const unknown = await target.call('GET', `/snapshots/snap_${'0'.repeat(24)}/tree`);
  expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

rule('snapshots.tree', 'the tree lists files and folders of the whole snapshot or below a path', async () => {
  const { snapshotId } = await archived(target);
  const tree = async (path = '') => (await target.call('GET', `/snapshots/${snapshotId}/tree${path}`)).body.entries;
  expect(await tree()).toMatchObject([
    { path: 'folder', type: 'directory', size: 0, modifiedAt: expect.any(String) },
    { path: 'folder/inner.txt', type: 'file', size: 6 },
    { path: 'top.txt', type: 'file', size: 10 },
  ]);
  expect((await tree('?path=folder')).map(({ path }) => path)).toEqual(['folder/inner.txt']);
  expect(await target.call('GET', `/snapshots/${snapshotId}/tree?path=none`)).toMatchObject({ status: 404 });
  expect(await target.call('GET', `/snapshots/${snapshotId}/tree?path=../..`)).toMatchObject({ status: 400 });
});

rule(
  ['snapshots.file', 'snapshots.folder', 'snapshots.download'],
  'a file is returned as it is, a folder and the whole snapshot as tar.gz',
  async () => {
    const { snapshotId } = await archived(target);
    const file = await target.call('GET', `/snapshots/${snapshotId}/files?path=folder/inner.txt`);
    expect(file.text).toBe('inside');
    expect(file.headers.get('content-length')).toBe('6');
    expect(file.headers.get('content-type')).toBe('application/octet-stream');
    const folder = await target.call('GET', `/snapshots/${snapshotId}/files?path=folder`);
    expect(folder.headers.get('content-type')).toBe('application/gzip');
    expect(await untar(folder.bytes)).toEqual({ 'inner.txt': 'inside' });
    const whole = await target.call('GET', `/snapshots/${snapshotId}/download`);
    expect(await untar(whole.bytes)).toEqual({ 'folder/inner.txt': 'inside', 'top.txt': 'at the top' });
    expect(await target.call('GET', `/snapshots/${snapshotId}/files?path=none`)).toMatchObject({ status: 404 });
    expect(await target.call('GET', `/snapshots/${snapshotId}/files`)).toMatchObject({ status: 400 });
  },
);

rule(
  ['snapshots.create-from-named', 'create.from'],
  'a name applies to the latest snapshot or the next one, and a create accepts it',
  async () => {
    const unique = `base-${process.pid}-${Date.now()}`;
    const { id, snapshotId } = await archived(target);
    await target.call('PATCH', `/sandboxes/${id}`, { body: { snapshotName: unique } });
    expect((await target.call('GET', `/sandboxes/${id}/snapshots/latest`)).body.snapshot.name).toBe(unique);
    const made = await target.create({ from: unique });
    await target.reach(made, 'ready');
    expect((await target.call('GET', `/sandboxes/${made}/files?path=top.txt`)).body.content).toBe('at the top');

    const second = await target.ready();
    await write(target, second, 'top.txt', 'of the second');
    await target.call('PATCH', `/sandboxes/${second}`, { body: { snapshotName: unique } });
    await target.archive(second);
    const named = (await target.call('GET', '/snapshots')).body.snapshots.filter(({ name }) => name === unique);
    expect(named).toMatchObject([{ sandboxId: second }]);
    expect((await target.call('GET', `/sandboxes/${id}/snapshots`)).body.snapshots).toMatchObject([
      { id: snapshotId, name: null },
    ]);
    const again = await target.create({ from: unique });
    await target.reach(again, 'ready');
    expect((await target.call('GET', `/sandboxes/${again}/files?path=top.txt`)).body.content).toBe('of the second');
  },
);

rule(
  ['snapshots.expire-14-days', 'errors.snapshot-data-expired', 'sandbox.data-expired-conflict', 'trap.S12'],
  'fourteen days after the stop the data is gone: it cannot be read, forked, resumed or created from',
  async () => {
    const local = await startLocalTarget();
    const { id, snapshotId } = await archived(local);
    await local.call('PATCH', `/sandboxes/${id}`, { body: { snapshotName: 'kept' } });
    local.service.clock.hold();
    await local.service.clock.advance(13 * 24 * 3_600_000);
    expect((await local.call('GET', `/snapshots/${snapshotId}/download`)).status).toBe(200);
    await local.service.clock.advance(24 * 3_600_000 + 1_000);
    const expired = { status: 409, body: { code: 'snapshot_data_expired' } };
    expect(await local.call('GET', `/snapshots/${snapshotId}/download`)).toMatchObject(expired);
    expect(await local.call('GET', `/snapshots/${snapshotId}/files?path=top.txt`)).toMatchObject(expired);
    expect(await local.call('GET', `/snapshots/${snapshotId}/tree`)).toMatchObject(expired);
    expect(await local.call('POST', `/sandboxes/${id}/fork`)).toMatchObject(expired);
    expect(await local.call('POST', `/sandboxes/${id}/resume`)).toMatchObject(expired);
    expect(await local.call('POST', '/sandboxes', { body: { from: 'kept' } })).toMatchObject(expired);
    expect((await local.call('GET', '/snapshots')).body.snapshots).toEqual([]);
    const { sandbox } = (await local.call('GET', `/sandboxes/${id}`)).body;
    expect(sandbox).toMatchObject({ snapshotAvailable: false, dataExpiredAt: expect.any(String) });
  },
  { needs: ['clock'] },
);
