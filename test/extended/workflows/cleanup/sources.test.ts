/** All: a cleanup leaves alone what running batches and jobs start from. Costs 8 CPU seconds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archived, clean, policyFor, ready } from '../../../workflows/cleanup/cleanup-harness.js';
import { ended, fanoutInput, items, submit } from '../../../workflows/fanout/fanout-harness.js';
import { createStand, endFaults, type Stand, script, shortTiming } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

/** A lease that lasts only for some seconds. */
const shortLease = { ...shortTiming, leaseLastsMs: 4_000, renewLeaseEveryMs: 1_000 };

describe('a cleanup leaves alone', () => {
  it('a source that a batch waits for: it renews its lease however long that lasts', async () => {
    const id = await ready(stand, 'slow-1');
    await stand.fault({ kind: 'stop_fails', times: 1_000, sandboxId: id });
    await stand.api.stopSandbox(id);
    const from = { kind: 'sandbox', sandboxId: id, allowStale: false } as const;
    const input = await submit(stand, fanoutInput(from, { timing: shortLease }), items(1));
    const leases = async () => {
      const { events = [] } = await stand.client.workflow.getHandle(`sandbox-watch/${id}`).fetchHistory();
      return (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length;
    };
    await expect.poll(() => leases().catch(() => 0)).toBeGreaterThan(3);
    await endFaults(stand);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed' });
  });

  it('what a job starts from whose create from a snapshot is refused', async () => {
    const id = await archived(stand, 'made-1');
    await stand.api.updateSandbox(id, { snapshotName: 'made' });
    const endpoint = 'createSandbox';
    await stand.fault({ kind: 'error', endpoint, status: 429, code: 'rate_limited', times: 1_000 });
    const source = { kind: 'create', body: { from: 'made' } } as const;
    const job = await stand.start({ source, prompts: [{ prompt: script('true') }] });
    const refused = () =>
      stand.service.books.calls().filter((call) => call.endpoint === endpoint && call.status === 429);
    await expect.poll(() => refused().length).toBeGreaterThan(0);
    const policy = policyFor('made', 'delete-sandbox');
    expect((await clean(stand, policy)).of(id)).toBe('skipped: leased');
    await endFaults(stand);
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect((await clean(stand, policy)).of(id)).toBe('deleted');
  });
});
