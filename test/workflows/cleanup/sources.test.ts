/** Gate: a cleanup leaves alone what running batches and jobs start from. Costs 6 CPU seconds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended, fanoutInput, forks, items, submit } from '../fanout/fanout-harness.js';
import { createStand, endFaults, letGo, type Stand, script, untilGo } from '../workflow-harness.js';
import { archived, clean, policyFor, untilState } from './cleanup-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

const waiting = [{ id: 'one', prompts: [{ prompt: script(untilGo) }] }, ...items(1)];

describe('a cleanup leaves alone', () => {
  it('the sandbox whose named snapshot a running batch creates from, and the snapshot', async () => {
    const id = await archived(stand, 'holder-1');
    await stand.api.updateSandbox(id, { snapshotName: 'held' });
    // A newer snapshot, because a cleanup keeps the newest.
    await stand.api.resumeSandbox(id, {});
    await untilState(stand, id, 'ready');
    await stand.api.stopSandbox(id);
    await untilState(stand, id, 'archived');
    const from = { kind: 'snapshot', from: 'held', body: {} } as const;
    const input = await submit(stand, fanoutInput(from, { policy: { concurrency: 1 } }), waiting);
    const first = () => forks(stand, input)[0];
    await expect.poll(() => first()?.state).toBe('running');
    const policy = policyFor('holder', 'delete-sandbox');
    expect((await clean(stand, policy)).of(id)).toBe('skipped: leased');
    const ofSnapshots = policyFor('holder', 'delete-snapshot', '', '    snapshotName: held');
    expect((await clean(stand, ofSnapshots)).of(id)).toBe('skipped: leased');
    await letGo(stand, first()?.id);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed' });
    expect((await clean(stand, policy)).of(id)).toBe('deleted');
  });

  it('what a job starts from whose fork is refused', async () => {
    const id = await archived(stand, 'parent-1');
    const endpoint = 'forkSandbox';
    await stand.fault({ kind: 'error', endpoint, status: 429, code: 'rate_limited', times: 1_000 });
    const source = { kind: 'fork', sandboxId: id } as const;
    const job = await stand.start({ source, prompts: [{ prompt: script('true') }] });
    const refused = () =>
      stand.service.books.calls().filter((call) => call.endpoint === endpoint && call.status === 429);
    await expect.poll(() => refused().length).toBeGreaterThan(0);
    const policy = policyFor('parent', 'delete-sandbox');
    expect((await clean(stand, policy)).of(id)).toBe('skipped: leased');
    await endFaults(stand);
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect((await clean(stand, policy)).of(id)).toBe('deleted');
  });
});
