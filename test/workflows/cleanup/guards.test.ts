import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { executionOf } from '../../../src/addresses/addresses.js';
import { listCleanups } from '../../../src/workflow-client/cleanups/cleanup-client.js';
import { leaseAs } from '../watch/lease-harness.js';
import { createStand, deployment, patient, type Stand, script } from '../workflow-harness.js';
import { archived, begin, clean, holdJob, nameOf, policyFor, ready, stateOf, untilState } from './cleanup-harness.js';

let stand: Stand;
/** Runs between the list of a plan and the first action. */
let meanwhile: () => Promise<unknown> = async () => undefined;
/** The same, for each list of several plans. */
let everyTime: (() => Promise<unknown>) | undefined;
/** Runs when a sandbox is read again right before its deletion. */
let atTheLast: { readonly sandboxId: string; readonly act: () => Promise<unknown> } | undefined;
beforeAll(async () => {
  stand = await createStand({
    through: (client) => ({
      ...client,
      getSandbox: async (sandboxId, options) => {
        const answer = await client.getSandbox(sandboxId, options);
        if (atTheLast?.sandboxId === sandboxId) await atTheLast.act();
        return answer;
      },
      listAllSandboxes: async (...args) => {
        const listed = await client.listAllSandboxes(...args);
        await everyTime?.();
        await meanwhile();
        meanwhile = async () => undefined;
        return listed;
      },
    }),
  });
});
afterAll(() => stand.close());

const lease = (sandboxId: string) => leaseAs(stand, sandboxId, 'borrower');

describe('a cleanup leaves alone', () => {
  it('sandboxes that have changed since the plan, are leased, protected or owned, and handles the rest', async () => {
    const name = (what: string) => archived(stand, `race-${what}`);
    const [due, renamed, resumed, leased, gone, golden] = await Promise.all(
      ['due', 'renamed', 'resumed', 'leased', 'gone', 'golden'].map(name),
    );
    const job = await holdJob(stand, 'race-job');
    await job.handle.terminate();
    const orphan = await archived(stand, nameOf('race-job', job.runId));
    let again: Awaited<ReturnType<typeof holdJob>> | undefined;
    meanwhile = async () => {
      await stand.api.updateSandbox(renamed ?? '', { name: 'race-another-name' });
      await stand.api.updateSandbox(golden ?? '', { name: 'golden-race' });
      await stand.api.resumeSandbox(resumed ?? '', {});
      await untilState(stand, resumed ?? '', 'ready');
      await lease(leased ?? '');
      await stand.api.deleteSandbox(gone ?? '');
    };
    const policy = policyFor('race', 'delete-sandbox', 'protect: [golden-*]\nprotectMayMatchNothing: true');
    const done = await clean(stand, policy);
    expect(done.of(due ?? '')).toBe('deleted');
    expect(done.of(orphan)).toBe('deleted');
    expect(done.of(renamed ?? '')).toBe('skipped: changed');
    expect(done.of(golden ?? '')).toBe('skipped: protected');
    expect(done.of(resumed ?? '')).toBe('skipped: changed');
    expect(done.of(leased ?? '')).toBe('skipped: leased');
    expect(done.of(gone ?? '')).toBe('skipped: gone');
    expect(done.summary).toMatchObject({ outcome: 'applied', counts: { deleted: 2, skipped: 5, failed: 0 } });
    const watch = stand.client.workflow.getHandle(`sandbox-watch/${due}`);
    expect(await watch.result(), 'the claim is given back, and the watch ends').toBeUndefined();

    const late = await archived(stand, nameOf('race-job', job.runId));
    atTheLast = {
      sandboxId: late,
      act: async () => {
        again ??= await holdJob(stand, 'race-job');
      },
    };
    expect((await clean(stand, policy)).of(late)).toBe('skipped: owner');
    atTheLast = undefined;
    await again?.handle.terminate();

    const second = await archived(stand, nameOf('race-job', job.runId).replace(/-1$/, '-2'));
    meanwhile = async () => {
      again = await holdJob(stand, 'race-job');
    };
    expect((await clean(stand, policy)).of(second)).toBe('owner_open');
    await again?.handle.terminate();
    expect((await clean(stand, policy)).of(second), 'its own execution is an earlier one, and closed').toBe('deleted');
  });

  it('what a terminated job left running unless it is stopped, and stops it', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script('sleep 600') }] });
    const { jobId = '' } = /^sf-test-(?<jobId>.*)$/.exec(handle.workflowId)?.groups ?? {};
    const own = () => stand.service.books.sandboxes().find(({ name }) => name.includes(jobId));
    await expect.poll(() => own()?.state).toBe('running');
    const { id = '', name = '' } = own() ?? {};
    const policy = policyFor(jobId, 'stop');
    const open = await clean(stand, policy);
    expect(open.of(id)).toBe('owner_open');
    const { runId } = await handle.describe();
    await handle.terminate();
    expect(name).toContain(executionOf(runId));
    const done = await clean(stand, policy);
    expect(done.of(id)).toBe('stopped');
    expect(await stateOf(stand, id)).toBe('archived');
  });

  it('the newest of a group, and all of it if one of the newest disappears', async () => {
    const [first, second, third] = [
      await archived(stand, 'keep-1'),
      await archived(stand, 'keep-2'),
      await archived(stand, 'keep-3'),
    ];
    const policy = policyFor('keep', 'delete-sandbox', '', '    keepLast: 1');
    meanwhile = () => stand.api.deleteSandbox(third);
    const raced = await clean(stand, policy);
    expect([first, second, third].map(raced.of)).toEqual(['skipped: newest', 'skipped: newest', 'kept_as_newest']);
    const done = await clean(stand, policy);
    expect([first, second].map(done.of)).toEqual(['deleted', 'kept_as_newest']);
  });

  it('snapshots whose name no rule mentions, and the newest', async () => {
    const id = await ready(stand, 'shot-1');
    for (const name of ['base', 'tmp-1', 'tmp-2']) {
      await stand.api.writeFile(id, { path: 'note', content: name });
      await stand.api.stopSandbox(id);
      await untilState(stand, id, 'archived');
      await stand.api.updateSandbox(id, { snapshotName: name });
      if (name === 'tmp-2') break;
      await stand.api.resumeSandbox(id, {});
      await untilState(stand, id, 'ready');
    }
    const names = async () => (await stand.api.listSandboxSnapshots(id)).snapshots.map(({ name }) => name);
    expect(await names()).toEqual(['base', 'tmp-1', 'tmp-2']);
    expect((await clean(stand, policyFor('shot', 'delete-snapshot'))).of(id)).toBe('nothing_to_do');
    const done = await clean(stand, policyFor('shot', 'delete-snapshot', '', '    snapshotName: tmp-*'));
    expect(done.of(id)).toBe('deleted');
    expect(await names()).toEqual(['base', 'tmp-2']);
  });

  it('what exceeds the limit of the night, even if it runs twice, and everything beside another open run', async () => {
    const [old, newer] = [await archived(stand, 'limit-1'), await archived(stand, 'limit-2')];
    const policy = policyFor('limit', 'delete-sandbox').replace('maxActions: 1000', 'maxActions: 1');
    const first = await clean(stand, policy);
    expect([old, newer].map(first.of)).toEqual(['deleted', 'over_limit']);
    expect(first.summary.planned).toMatchObject({ due: 1, overLimit: 1 });
    const acted = async () =>
      (await listCleanups(stand.client, { deployment })).find(({ id }) => id.startsWith('limit-'))?.acted;
    await expect.poll(acted).toBe(1);
    const second = await clean(stand, policy);
    expect(second.of(newer)).toBe('over_limit');
    expect(second.summary.planned).toMatchObject({ due: 0, takenTonight: 1, allowed: 0 });

    const elsewhere = { ...stand, taskQueue: 'nobody-takes-these' };
    const open = await begin(elsewhere, policyFor('beside', 'stop'));
    await expect
      .poll(async () =>
        (await listCleanups(stand.client, { deployment })).some(({ id }) => open.workflowId.endsWith(id)),
      )
      .toBe(true);
    const beside = await clean(stand, policyFor('beside', 'stop'));
    expect(beside.summary).toMatchObject({
      outcome: 'another_run',
      planned: { refusal: { why: expect.stringContaining(open.workflowId) } },
    });
    await open.terminate();
  });

  it('what another run that started at the same moment handles', async () => {
    const ids = [await archived(stand, 'twin-1'), await archived(stand, 'twin-2')];
    const policy = policyFor('twin', 'delete-sandbox').replace('maxActions: 1000', 'maxActions: 1');
    // Temporal lists new runs with a delay. Outside of tests, each run waits for that.
    everyTime = () =>
      vi.waitFor(async () => {
        const listed = await listCleanups(stand.client, { deployment });
        expect(listed.filter(({ id }) => id.startsWith('twin-'))).toHaveLength(2);
      }, patient);
    const twins = await Promise.all([1, 2].map(() => clean(stand, policy, { settleMs: 1 })));
    everyTime = undefined;
    expect(twins.map(({ summary }) => summary.outcome).sort()).toEqual(['another_run', 'applied']);
    expect(await Promise.all(ids.map((id) => stateOf(stand, id)))).toEqual(['gone', 'archived']);
  });
});
