import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { rule } from './rule.js';
import { startLocalTarget, useTarget } from './target/index.js';

const target = useTarget();

rule(
  ['create.idempotency-header-optional', 'create.response'],
  'creates without a key create one sandbox each, all accepted with 202',
  async () => {
    const answers = [
      await target.call('POST', '/sandboxes', { body: { name: 'twice' } }),
      await target.call('POST', '/sandboxes', { body: { name: 'twice' } }),
    ];
    expect(answers.map(({ status, body }) => [status, body.type])).toEqual([
      [202, 'sandbox.created'],
      [202, 'sandbox.created'],
    ]);
    expect(new Set(answers.map(({ body }) => body.sandbox.id)).size).toBe(2);
  },
);

rule(
  'trap.S3',
  'a prompt sent twice with one Idempotency-Key runs twice',
  async () => {
    const id = await target.ready();
    const send = () =>
      target.call('POST', `/sandboxes/${id}/prompt`, {
        body: { prompt: '```sh\necho ran >> count\n```' },
        headers: { 'idempotency-key': 'one-key' },
      });
    const [first, second] = [(await send()).body.promptId, (await send()).body.promptId];
    expect(second).not.toBe(first);
    await target.promptEnd(id, first);
    await target.promptEnd(id, second);
    expect((await target.call('GET', `/sandboxes/${id}/files?path=count`)).body.content).toBe('ran\nran\n');
  },
  { needs: ['local'] },
);

rule(
  ['idempotency.24-hours', 'idempotency.same-sandbox', 'trap.S4'],
  'a key is valid for 24 hours: a minute before its end it finds its sandbox, a minute after it creates another',
  async () => {
    const local = await startLocalTarget();
    local.service.clock.hold();
    const create = () => local.call('POST', '/sandboxes', { body: {}, headers: { 'idempotency-key': 'one-key' } });
    const first = (await create()).body.sandbox.id;
    await local.service.clock.advance((24 * 60 - 1) * 60_000);
    expect((await create()).body.sandbox.id).toBe(first);
    await local.service.clock.advance(2 * 60_000);
    expect((await create()).body.sandbox.id).not.toBe(first);
  },
  { needs: ['clock'] },
);

rule(
  ['idempotency.released', 'trap.S4'],
  'the key of a create that failed before its sandbox existed is free after two minutes',
  async () => {
    const local = await startLocalTarget();
    local.service.clock.hold();
    await local.arm({ kind: 'create_fails' });
    const create = () => local.call('POST', '/sandboxes', { body: {}, headers: { 'idempotency-key': 'one-key' } });
    expect((await create()).status).toBe(500);
    await local.service.clock.advance(90_000);
    expect(await create()).toMatchObject({ status: 409, body: { code: 'idempotency_in_progress' } });
    await local.service.clock.advance(60_000);
    expect((await create()).status).toBe(202);
  },
  { needs: ['clock', 'faults'] },
);

rule(
  ['idempotency.after-5xx', 'trap.S4'],
  'a create that a proxy answers with 5xx is found by its key, however often it is repeated',
  async () => {
    const key = randomUUID();
    const create = () => target.call('POST', '/sandboxes', { body: {}, headers: { 'idempotency-key': key } });
    const ids = [await create(), await create(), await create()].map(({ body }) => body.sandbox.id);
    expect(new Set(ids).size).toBe(1);
  },
);

rule(
  ['deletion.never-cancelled', 'deletion.gone', 'deletion.accepted'],
  'nothing reverts an accepted deletion: resume, stop and rename find no sandbox, and it completes',
  async () => {
    const local = await startLocalTarget({ timings: { deleteMs: 60_000 } });
    const id = await local.ready();
    const headers = { 'x-svc-confirm-delete': id };
    const { status, body } = await local.call('DELETE', `/sandboxes/${id}`, { headers });
    expect(status).toBe(202);
    expect((await local.call('POST', `/sandboxes/${id}/resume`)).status).toBe(404);
    expect((await local.call('POST', `/sandboxes/${id}/stop`)).status).toBe(404);
    expect((await local.call('PATCH', `/sandboxes/${id}`, { body: { name: 'kept' } })).status).toBe(404);
    expect((await local.call('DELETE', `/deletion-operations/${body.operationId}`)).status).toBe(405);
    await local.service.clock.advance(60_000);
    const operation = (await local.call('GET', `/deletion-operations/${body.operationId}`)).body.operation;
    expect(operation).toMatchObject({ status: 'completed', sandboxId: id, error: null });
  },
  { needs: ['clock'] },
);

rule(
  ['snapshots.expire-14-days', 'sandbox.data-expired-at', 'sandbox.data-expired-conflict', 'trap.S12'],
  'the data of a stopped sandbox is kept for 14 days, and then resume and fork answer 409',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready({ ttlSeconds: null });
    const archived = await local.archive(id);
    local.service.clock.hold();
    await local.service.clock.advance(14 * 86_400_000 - 60_000);
    const read = async () => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    expect(await read()).toMatchObject({ dataExpiredAt: null, snapshotAvailable: true });
    await local.service.clock.advance(120_000);
    const { dataExpiredAt } = await read();
    expect(Date.parse(dataExpiredAt ?? '') - Date.parse(archived.stop?.endedAt ?? '')).toBe(14 * 86_400_000);
    for (const action of ['resume', 'fork']) {
      const refused = await local.call('POST', `/sandboxes/${id}/${action}`);
      expect(refused, action).toMatchObject({ status: 409, body: { code: 'snapshot_data_expired' } });
    }
  },
  { needs: ['clock'] },
);
