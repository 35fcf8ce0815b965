/** The same as in `test/workflows/cleanup/ended-sandboxes.test.ts`, for other owners and other moments. Extended, 15 s. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FanoutPolicy } from '../../../../workflows/index.js';
import {
  clean,
  forkByHand,
  holdJob,
  nameOf,
  orphanPolicy,
  ready,
  runIn,
  untilState,
} from '../../../workflows/cleanup/cleanup-harness.js';
import { archivedSandbox, fanoutInput, items, lines, run, source } from '../../../workflows/fanout/fanout-harness.js';
import { refusal } from '../../../workflows/intercept.js';
import { createStand, type Stand, script } from '../../../workflows/workflow-harness.js';

let stand: Stand;
/** True while the service refuses creates for the moment. */
let isFull = false;
/** Runs once the sandboxes and the ends of jobs have been read for a plan. */
let meanwhile: () => Promise<unknown> = async () => undefined;
beforeAll(async () => {
  stand = await createStand({
    through: (client) => ({
      ...client,
      createSandbox: (...args) => {
        if (isFull) throw refusal('createSandbox', { status: 429, code: 'rate_limited', typed: true });
        return client.createSandbox(...args);
      },
      listSnapshots: async (...args) => {
        const listed = await client.listSnapshots(...args);
        await meanwhile();
        meanwhile = async () => undefined;
        return listed;
      },
    }),
  });
});
afterAll(() => stand.close());

/** Runs a batch of one item. @returns the id of its fork */
async function runItem(end: FanoutPolicy['end']): Promise<string> {
  const input = fanoutInput(source(await archivedSandbox(stand)), { policy: { end } });
  const [item] = await lines(stand, await run(stand, input, items(1)));
  return item?.job?.sandboxId ?? '';
}

describe('the last job that ended a sandbox decides', () => {
  it('also of a sandbox that no job created', async () => {
    const { sandbox } = await stand.api.createSandbox({ name: 'by-hand' });
    await untilState(stand, sandbox.id, 'ready');
    await runIn(stand, sandbox.id, 'keep');
    expect((await clean(stand, orphanPolicy('stop'))).of(sandbox.id)).toBe('kept_by_owner');
    await runIn(stand, sandbox.id, 'stop');
    expect((await clean(stand, orphanPolicy('delete-sandbox'))).of(sandbox.id)).toBe('deleted');
  });

  it('also if it ends between the plan and the action', async () => {
    const { sandbox } = await stand.api.createSandbox({ name: 'by-hand-late' });
    await untilState(stand, sandbox.id, 'ready');
    meanwhile = () => runIn(stand, sandbox.id, 'keep');
    // Commands do not change the record of a sandbox.
    expect((await clean(stand, orphanPolicy('delete-sandbox'))).of(sandbox.id)).toBe('skipped: rule');
    expect((await clean(stand, orphanPolicy('delete-sandbox'))).of(sandbox.id)).toBe('kept_by_owner');
  });
});

describe('a fork by hand without a name', () => {
  it('is not an orphan of a terminated job, also if it is the only one left', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script('sleep 600') }] });
    const own = () => stand.service.books.sandboxes().find(({ name }) => name.startsWith(`${handle.workflowId}-`));
    await expect.poll(() => own()?.state).toBe('running');
    await handle.terminate();
    const { id = '' } = own() ?? {};
    const fork = await forkByHand(stand, id);
    await stand.api.interruptSandbox(id);
    await untilState(stand, id, 'idle');
    const done = await clean(stand, orphanPolicy('delete-sandbox'));
    expect([id, fork].map(done.of)).toEqual(['deleted', 'owner_unknown']);
    expect((await clean(stand, orphanPolicy('delete-sandbox'))).of(fork)).toBe('owner_unknown');
  });

  it('is not an orphan of a job that created its sandbox in a later run, also if the first run is gone', async () => {
    isFull = true;
    const handle = await stand.start({ maxHistoryEvents: 15, prompts: [{ prompt: script('sleep 600') }] });
    const newest = stand.client.workflow.getHandle(handle.workflowId);
    await expect.poll(async () => (await newest.describe()).runId).not.toBe(handle.firstExecutionRunId);
    isFull = false;
    const own = () => stand.service.books.sandboxes().find(({ name }) => name.startsWith(`${handle.workflowId}-`));
    await expect.poll(() => own()?.state).toBe('running');
    await newest.terminate();
    const { id = '' } = own() ?? {};
    const fork = await forkByHand(stand, id);
    await stand.api.interruptSandbox(id);
    await untilState(stand, id, 'idle');
    const plan = () => clean(stand, orphanPolicy('delete-sandbox'), { mode: 'plan' });
    const known = await plan();
    expect([id, fork].map(known.of)).toEqual(['delete-sandbox', 'owner_unknown']);
    // Temporal drops the first runs of a chain before the last.
    const first = { workflowId: handle.workflowId, runId: handle.firstExecutionRunId };
    const { workflowService, options } = stand.client;
    await workflowService.deleteWorkflowExecution({ namespace: options.namespace, workflowExecution: first });
    const dropped = stand.client.workflow.getHandle(first.workflowId, first.runId);
    await expect.poll(() => dropped.describe().catch(() => null)).toBeNull();
    const unknown = await plan();
    expect([id, fork].map(unknown.of)).toEqual(['owner_unknown', 'owner_unknown']);
  });

  it('is not an orphan of a job that knew none: both are left, and the one that remains is', async () => {
    const { handle, runId } = await holdJob(stand, 'knew-none');
    await handle.terminate();
    const id = await ready(stand, nameOf('knew-none', runId));
    const fork = await forkByHand(stand, id);
    const done = await clean(stand, orphanPolicy('stop'));
    expect([id, fork].map(done.of)).toEqual(['owner_unknown', 'owner_unknown']);
    await stand.api.updateSandbox(fork, { name: 'mine' });
    expect((await clean(stand, orphanPolicy('stop'))).of(id)).toBe('stopped');
  });
});

describe('the fork of an item', () => {
  it('is known by its id, so that a fork of it by hand is left', async () => {
    const own = await runItem('stop');
    const fork = await forkByHand(stand, own);
    const done = await clean(stand, orphanPolicy('delete-sandbox'));
    expect([own, fork].map(done.of)).toEqual(['deleted', 'owner_unknown']);
  });

  it('is kept, until a job that it was given to stops it', async () => {
    const own = await runItem('keep');
    const fork = await forkByHand(stand, own);
    const kept = await clean(stand, orphanPolicy('delete-sandbox'));
    expect([own, fork].map(kept.of)).toEqual(['kept_by_owner', 'owner_unknown']);
    await runIn(stand, own, 'stop');
    expect((await clean(stand, orphanPolicy('delete-sandbox'))).of(own)).toBe('deleted');
  });
});
