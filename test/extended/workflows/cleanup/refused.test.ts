import { expect, it } from 'vitest';
import { ApiError, type SandboxClient } from '../../../../src/client/index.js';
import { shareChangedStand } from '../../../workflows/changed-stand.js';
import { archived, clean, policyFor, ready, stateOf, untilState } from '../../../workflows/cleanup/cleanup-harness.js';
import { claimAs } from '../../../workflows/watch/lease-harness.js';
import { believesNothing } from '../../../workflows/workflow-harness.js';

const { stand, change } = shareChangedStand();

it('a cleanup fails with the reason if the list is refused permanently', async () => {
  await stand.fault({ kind: 'error', endpoint: 'listSandboxes', status: 401, code: 'unauthorized', times: 1_000 });
  const policy = policyFor('refused', 'stop');
  const refused = () => stand.service.books.calls().filter(({ status }) => status === 401).length;
  const before = refused();
  let { summary } = await clean(stand, policy, { planDeadlineMs: 3_000 });
  // A busy machine may not have asked before so short a deadline.
  for (let planDeadlineMs = 6_000; refused() === before; planDeadlineMs *= 2)
    ({ summary } = await clean(stand, policy, { planDeadlineMs }));
  expect(summary).toMatchObject({ outcome: 'failed', planned: null, error: { code: 'plan_deadline' } });
  expect(summary.error?.message).toContain('unauthorized');
});

it('a cleanup follows a deletion without an operation until the sandbox is gone, and releases its claim', async () => {
  const id = await archived(stand, 'unnamed-1');
  Object.assign(change, {
    deleteSandbox: async (sandboxId, options) => {
      const { operationId: _, operation: __, ...answer } = await stand.api.deleteSandbox(sandboxId, options);
      return answer as Awaited<ReturnType<SandboxClient['deleteSandbox']>>;
    },
  } satisfies Partial<SandboxClient>);
  const done = await clean(stand, policyFor('unnamed', 'delete-sandbox'));
  expect(done.of(id)).toBe('deleted');
  await expect.poll(() => claimAs(stand, id, 'somebody', 1)).toMatchObject({ granted: true });
});

it('a cleanup follows the deletion of a snapshot without an operation until the list no longer shows it', async () => {
  const id = await ready(stand, 'nameless-1');
  for (const name of ['tmp-1', 'tmp-2']) {
    if (name === 'tmp-2') await stand.api.resumeSandbox(id, {});
    await untilState(stand, id, 'ready');
    await stand.api.stopSandbox(id);
    await untilState(stand, id, 'archived');
    await stand.api.updateSandbox(id, { snapshotName: name });
  }
  Object.assign(change, {
    deleteSnapshot: async (snapshotId, options) => {
      const { operationId: _, operation: __, ...answer } = await stand.api.deleteSnapshot(snapshotId, options);
      return answer as Awaited<ReturnType<SandboxClient['deleteSnapshot']>>;
    },
  } satisfies Partial<SandboxClient>);
  const done = await clean(stand, policyFor('nameless', 'delete-snapshot', '', '    snapshotName: tmp-*'));
  expect(done.of(id)).toBe('deleted');
  expect((await stand.api.listSandboxSnapshots(id)).snapshots.map(({ name }) => name)).toEqual(['tmp-2']);
});

it('D5: a cleanup accepts a missing sandbox only after it has been missing for longer than reads lag', async () => {
  const id = await ready(stand, 'lagging-1');
  let missing = 0;
  Object.assign(change, {
    stopSandbox: (sandboxId, options) => {
      missing = 2;
      return stand.api.stopSandbox(sandboxId, options);
    },
    getSandbox: (sandboxId, options) => {
      missing -= 1;
      return stand.api.getSandbox(missing >= 0 ? 'bx_22222222' : sandboxId, options);
    },
  } satisfies Partial<SandboxClient>);
  const done = await clean(stand, policyFor('lagging', 'stop'), { timing: believesNothing });
  expect(done.of(id)).toBe('stopped');
});

it('a cleanup handles the rest in time if the reads of one sandbox are refused permanently', async () => {
  const [bad, good] = [await archived(stand, 'mixed-1'), await archived(stand, 'mixed-2')];
  const body = { error: { code: 'unauthorized', message: 'no' } };
  Object.assign(change, {
    getSandbox: (sandboxId, options) => {
      if (sandboxId !== bad) return stand.api.getSandbox(sandboxId, options);
      return stand.api.getSandbox('bx_00000000', options).then(
        () => Promise.reject(new Error(JSON.stringify(body))),
        (error: unknown) => Promise.reject(error instanceof ApiError ? new Error('garbled') : error),
      );
    },
  } satisfies Partial<SandboxClient>);
  const done = await clean(stand, policyFor('mixed', 'delete-sandbox'), { actionDeadlineMs: 20_000 });
  expect([bad, good].map(done.of)).toEqual(['failed', 'deleted']);
  expect(done.summary.outcome).toBe('applied');
  expect(await stateOf(stand, bad)).toBe('archived');
});

it('a cleanup reports unreadable rows of the list, and leaves alone what they represent', async () => {
  const [read, unread] = [await archived(stand, 'torn-1'), await archived(stand, 'torn-2')];
  Object.assign(change, {
    listAllSandboxes: async (query, options) => {
      const all = await stand.api.listAllSandboxes(query, options);
      options?.onRowsLeftOut?.(1);
      return all.filter(({ id }) => id !== unread);
    },
  } satisfies Partial<SandboxClient>);
  const done = await clean(stand, policyFor('torn', 'delete-sandbox'));
  expect(done.summary.planned).toMatchObject({ due: 1, unreadable: 1 });
  expect(done.of(read)).toBe('deleted');
  expect(await stateOf(stand, unread)).toBe('archived');
});

it('a cleanup counts unreadable rows of the list of snapshots too', async () => {
  await archived(stand, 'frayed-1');
  Object.assign(change, {
    listSnapshots: async (options) => {
      options?.onRowsLeftOut?.(2);
      return stand.api.listSnapshots(options);
    },
  } satisfies Partial<SandboxClient>);
  const done = await clean(stand, policyFor('frayed', 'delete-snapshot'));
  expect(done.summary.planned).toMatchObject({ unreadable: 2 });
});
