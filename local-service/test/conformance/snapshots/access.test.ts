import { expect } from 'vitest';
import { rule } from '../rule.js';
import { startPeople, type Target } from '../target/index.js';

const local = { needs: ['local'] } as const;

const snapshotIds = async (on: Target) => (await on.call('GET', '/snapshots')).body.snapshots.map(({ id }) => id);

/** A sandbox that was stopped, with its snapshot. */
async function archived(on: Target, content: string): Promise<{ readonly id: string; readonly snapshotId: string }> {
  const id = await on.ready({ noEnv: true });
  await on.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'file.txt', content } });
  await on.archive(id);
  return { id, snapshotId: (await on.call('GET', `/sandboxes/${id}/snapshots/latest`)).body.snapshot.id };
}

rule(
  ['snapshots.list', 'access.view'],
  'everyone who sees a sandbox sees its snapshots, and only its creator reads and deletes them',
  async () => {
    const { ann, ben, eve } = await startPeople();
    const { id, snapshotId } = await archived(ann, 'of ann');
    const file = `/snapshots/${snapshotId}/files?path=file.txt`;
    expect(await snapshotIds(ann)).toEqual([snapshotId]);
    expect(await snapshotIds(ben)).toEqual([snapshotId]);
    const headers = { 'x-svc-confirm-delete': snapshotId };
    const forbidden = { status: 403, body: { code: 'forbidden' } };
    expect(await ben.call('DELETE', `/snapshots/${snapshotId}`, { headers })).toMatchObject(forbidden);
    expect(await ben.call('GET', file)).toMatchObject(forbidden);
    expect(await ben.call('GET', `/snapshots/${snapshotId}/tree`)).toMatchObject(forbidden);
    expect(await ben.call('GET', `/snapshots/${snapshotId}/download`)).toMatchObject(forbidden);
    expect((await ann.call('GET', file)).text).toBe('of ann');
    await ann.call('POST', `/sandboxes/${id}/unshare`);
    expect(await snapshotIds(ben)).toEqual([snapshotId]);
    expect(await snapshotIds(eve)).toEqual([]);
    const unseen = await eve.call('GET', file);
    expect(unseen).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(unseen.text).not.toContain(id);
    expect(await eve.call('DELETE', `/snapshots/${snapshotId}`, { headers })).toMatchObject({ status: 404 });
    expect(await eve.call('GET', `/sandboxes/${id}/snapshots`)).toMatchObject({ status: 404 });
    expect((await ann.call('DELETE', `/snapshots/${snapshotId}`, { headers })).status).toBe(202);
  },
  local,
);

rule(
  ['snapshots.create-from-named', 'create.from', 'scope.replace-snapshot'],
  'names belong to an account: those of others are neither taken nor found',
  async () => {
    const { ann, ben, eve } = await startPeople();
    const ofAnn = await archived(ann, 'of ann');
    const ofEve = await archived(eve, 'of eve');
    for (const [person, id] of [[ann, ofAnn.id] as const, [eve, ofEve.id] as const]) {
      await person.call('PATCH', `/sandboxes/${id}`, { body: { snapshotName: 'base' } });
    }
    const made = async (person: Target) => {
      const id = await person.create({ from: 'base', noEnv: true });
      await person.reach(id, 'ready');
      return (await person.call('GET', `/sandboxes/${id}/files?path=file.txt`)).body.content;
    };
    expect([await made(ann), await made(eve)]).toEqual(['of ann', 'of eve']);
    const refused = await ben.call('POST', '/sandboxes', { body: { from: 'base' } });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    await ann.call('PATCH', `/sandboxes/${ofAnn.id}`, { body: { snapshotName: 'of the team' } });
    const unknown = await eve.call('POST', '/sandboxes', { body: { from: 'of the team' } });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found' } });
  },
  local,
);

rule(
  ['idempotency.per-account', 'fork.idempotent'],
  'two accounts can use the same key',
  async () => {
    const { ann, eve } = await startPeople();
    const headers = { 'idempotency-key': 'the-same' };
    const one = await ann.call('POST', '/sandboxes', { body: { name: 'one' }, headers });
    const other = await eve.call('POST', '/sandboxes', { body: { name: 'other' }, headers });
    expect([one.status, other.status]).toEqual([202, 202]);
    expect(other.body.sandbox.name).toBe('other');
  },
  local,
);
