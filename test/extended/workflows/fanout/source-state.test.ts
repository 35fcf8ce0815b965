/** All: what is and what is not a change of the source of a batch. Costs 45 CPU seconds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itemWorkflowId } from '../../../../src/addresses/addresses.js';
import { cancelFanout, fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  forks,
  items,
  leftForks,
  run,
  source,
  submit,
} from '../../../workflows/fanout/fanout-harness.js';
import {
  changed,
  forkOf,
  holding,
  meanwhile,
  resumed,
  stopped,
  waiting,
} from '../../../workflows/fanout/source-harness.js';
import { createStand, deployment, letGo, type Stand, script, untilGo } from '../../../workflows/workflow-harness.js';

/** A source that the worker cannot read. */
let unreadable: string | null = null;
/** A source of which one read shows an earlier state. */
let stale: string | null = null;
let stand: Stand;
beforeAll(async () => {
  stand = await createStand({
    worker: { forksPerSecond: 1_000 },
    through: (client) => ({
      ...client,
      getSandbox: async (id, ...options) => {
        if (id === unreadable) throw new Error('unreadable');
        const seen = await client.getSandbox(id, ...options);
        if (id !== stale) return seen;
        stale = null;
        return { ...seen, sandbox: { ...seen.sandbox, state: 'archiving' } };
      },
    }),
  });
});
afterAll(() => stand.close());

/** Items of which the second one lasts until it is released. */
const firstThenWaiting = () => [...items(1), ...waiting(2)].map((item, at) => ({ ...item, id: `item-${at}` }));

const isRefused = { outcome: 'source_failed', error: { code: 'source_changed' } };
const onlyFirst = ['completed', 'source_changed', 'not_started'];

describe('a source', () => {
  it('that changes does not end the items that started before', async () => {
    const sandboxId = await archivedSandbox(stand);
    const until = [0, 1, 2].map((at) => ({ id: `item-${at}`, prompts: [{ prompt: script(untilGo) }] }));
    const input = await submit(stand, fanoutInput(source(sandboxId), { policy: { concurrency: 2 } }), until);
    const fork = (at: number) => forkOf(stand, input, at);
    await expect.poll(() => [fork(0)?.state, fork(1)?.state]).toEqual(['running', 'running']);
    await changed(stand, sandboxId);
    await letGo(stand, fork(1)?.id);
    await expect.poll(() => fork(2)?.gone).toBe('deleted');
    expect(fork(0)?.state).toBe('running');
    await letGo(stand, fork(0)?.id);
    expect(await ended(stand, input)).toMatchObject({ ...isRefused, counts: { completed: 2, failed: 1 } });
  });

  it('that changes does not end them if their chunk is terminated meanwhile', async () => {
    const sandboxId = await archivedSandbox(stand);
    const until = [0, 1, 2].map((at) => ({ id: `item-${at}`, prompts: [{ prompt: script(untilGo) }] }));
    const input = await submit(stand, fanoutInput(source(sandboxId), { policy: { concurrency: 2 } }), until);
    const fork = (at: number) => forkOf(stand, input, at);
    await expect.poll(() => [fork(0)?.state, fork(1)?.state]).toEqual(['running', 'running']);
    await changed(stand, sandboxId);
    await letGo(stand, fork(1)?.id);
    await expect.poll(async () => (await fanoutProgress(stand.client, input)).counts.failed).toBe(1);
    const runOf = async () => (await chunkOf(stand, input, 0).describe()).runId;
    const first = await runOf();
    await chunkOf(stand, input, 0).terminate();
    await expect.poll(runOf).not.toBe(first);
    // A chunk that starts while the batch is ending cancels its items.
    expect((await fanoutProgress(stand.client, input)).phase).toBe('running');
    await letGo(stand, fork(0)?.id);
    expect(await ended(stand, input)).toMatchObject({ ...isRefused, counts: { completed: 2, failed: 1 } });
  });

  it('that runs again is not forked', async () => {
    const sandboxId = await archivedSandbox(stand);
    const { result, rows } = await meanwhile(stand, source(sandboxId), () => resumed(stand, sandboxId));
    expect(result).toMatchObject(isRefused);
    expect(result.error?.message).toContain('somebody has resumed it');
    expect(rows).toEqual(onlyFirst);
  });

  it('is read again if the read after the fork fails', async () => {
    const sandboxId = await archivedSandbox(stand);
    const { rows } = await meanwhile(stand, source(sandboxId), async (batch) => {
      await changed(stand, sandboxId);
      unreadable = sandboxId;
      void expect
        .poll(() => forkOf(stand, batch, 1)?.state)
        .toBe('ready')
        .finally(() => (unreadable = null));
    });
    expect(rows).toEqual(onlyFirst);
  });

  it('has not changed if one read is stale', async () => {
    const sandboxId = await archivedSandbox(stand);
    const { result } = await meanwhile(stand, source(sandboxId), async () => {
      stale = sandboxId;
    });
    expect(stale).toBeNull();
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 3 } });
  });

  it('that the batch itself stops has not changed by that', async () => {
    const sandboxId = await archivedSandbox(stand);
    await resumed(stand, sandboxId);
    expect(await run(stand, fanoutInput(source(sandboxId)), items(2))).toMatchObject({ outcome: 'completed' });
    await resumed(stand, sandboxId);
    const { result, rows } = await meanwhile(stand, source(sandboxId), () => changed(stand, sandboxId));
    expect(result).toMatchObject(isRefused);
    expect(rows).toEqual(onlyFirst);
  });

  it('is forked on if the service found nothing new at its stop', async () => {
    const sandboxId = await archivedSandbox(stand);
    const { result } = await meanwhile(stand, source(sandboxId), async () => {
      await resumed(stand, sandboxId);
      await stand.fault({ kind: 'snapshot_unchanged' });
      await stopped(stand, sandboxId);
    });
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 3 } });
  });

  it('that the batch prepared may change too', async () => {
    const prepare = { kind: 'prepare', body: {}, put: [], commands: ['echo mine > seed'], prompts: [] } as const;
    const { result, rows } = await meanwhile(
      stand,
      { ...prepare, end: 'stop', deadlineMs: 600_000 },
      async ({ batchId }) => {
        const own = stand.service.books
          .sandboxes()
          .find(({ name }) => name.includes(`${batchId}-`) && name.includes('-prep'));
        await changed(stand, own?.id ?? '');
      },
    );
    expect(result).toMatchObject(isRefused);
    expect(rows).toEqual(onlyFirst);
  });
});

it('a named snapshot is created from although its sandbox gets newer snapshots', async () => {
  const sandboxId = await holding(stand, 'steady');
  const from = { kind: 'snapshot', from: 'steady', body: {} } as const;
  const { result } = await meanwhile(stand, from, () => changed(stand, sandboxId));
  expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 3 } });
});

it.each(['before', 'while it runs', 'never'])(
  'a resumed batch goes on only from the state of its first items (changed: %s)',
  async (when) => {
    const sandboxId = await archivedSandbox(stand);
    const input = await submit(
      stand,
      fanoutInput(source(sandboxId), { policy: { concurrency: 1 } }),
      firstThenWaiting(),
    );
    await expect.poll(() => forkOf(stand, input, 1)?.state).toBe('running');
    await cancelFanout(stand.client, input);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'cancelled', counts: { completed: 1 } });
    if (when === 'before') await changed(stand, sandboxId);
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    if (when === 'before') {
      expect(await ended(stand, input)).toMatchObject({ ...isRefused, counts: { completed: 1 } });
      return;
    }
    const next = () =>
      stand.service.books.sandboxes().find(({ name }) => name.includes(input.batchId) && name.endsWith('-i1-2'));
    await expect.poll(() => next()?.state).toBe('running');
    if (when === 'while it runs') await changed(stand, sandboxId);
    await letGo(stand, next()?.id);
    expect(await ended(stand, input)).toMatchObject(
      when === 'never'
        ? { outcome: 'completed', counts: { completed: 3 } }
        : { ...isRefused, counts: { completed: 2, failed: 1 } },
    );
  },
);

it('a resumed batch whose source has changed ends what an earlier execution left running', async () => {
  const sandboxId = await archivedSandbox(stand);
  const input = await submit(stand, fanoutInput(source(sandboxId), { policy: { concurrency: 1 } }), firstThenWaiting());
  await expect.poll(() => forkOf(stand, input, 1)?.state).toBe('running');
  for (const part of [batchOf(stand, input), chunkOf(stand, input, 0)]) await part.terminate();
  await changed(stand, sandboxId);
  await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
  expect(await ended(stand, input)).toMatchObject({ ...isRefused, counts: { completed: 1 } });
  await expect.poll(() => leftForks(stand, input)).toEqual([]);
});

it('a resumed batch knows the state of its first forks although none of their items has ended', async () => {
  const sandboxId = await archivedSandbox(stand);
  const input = await submit(stand, fanoutInput(source(sandboxId), { policy: { concurrency: 1 } }), waiting(2));
  await expect.poll(() => forkOf(stand, input, 0)?.state).toBe('running');
  for (const part of [batchOf(stand, input), chunkOf(stand, input, 0)]) await part.terminate();
  await changed(stand, sandboxId);
  await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
  // If the item goes on, it completes.
  await letGo(stand, forkOf(stand, input, 0)?.id).catch(() => undefined);
  expect(await ended(stand, input)).toMatchObject(isRefused);
  expect(forks(stand, input)).toHaveLength(1);
});

it('a resumed batch whose source has changed names the fork of an item that was terminated too', async () => {
  const sandboxId = await archivedSandbox(stand);
  const input = await submit(stand, fanoutInput(source(sandboxId), { policy: { concurrency: 1 } }), firstThenWaiting());
  await expect.poll(() => forkOf(stand, input, 1)?.state).toBe('running');
  const item = stand.client.workflow.getHandle(itemWorkflowId(deployment, input.batchId, 1));
  for (const part of [batchOf(stand, input), chunkOf(stand, input, 0), item]) await part.terminate();
  await changed(stand, sandboxId);
  await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
  const { outcome, left, leftMore } = await ended(stand, input);
  expect(outcome).toBe('source_failed');
  expect(left).toMatchObject([{ kind: 'sandbox', sandboxName: forkOf(stand, input, 1)?.name }]);
  expect(leftMore).toBe(0);
});
