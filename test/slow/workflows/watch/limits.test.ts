import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxEventSignal } from '../../../../workflows/index.js';
import { holdJob } from '../../../workflows/cleanup/cleanup-harness.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  items,
  source,
  submitInChunks,
  usableSandbox,
} from '../../../workflows/fanout/fanout-harness.js';
import { claimAs, leaseAs, releaseAs, watchOf } from '../../../workflows/watch/lease-harness.js';
import { createStand, type Stand, shortTiming } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

const firstRunOf = async (sandboxId: string) =>
  (await watchOf(stand, sandboxId).describe()).raw.workflowExecutionInfo?.firstRunId;
const runOf = async (sandboxId: string) => (await watchOf(stand, sandboxId).describe()).runId;
const refused = { granted: false, leasedBy: ['borrower'] };

describe.concurrent('a watch', () => {
  it('that has received many Updates continues as new, and loses no lease and no claim', async ({ expect }) => {
    const id = 'bx_limits01';
    await leaseAs(stand, id, 'borrower', { limits: { updates: 5 } });
    const first = await runOf(id);
    for (let asked = 0; asked < 17; asked += 1) expect(await claimAs(stand, id, 'somebody')).toMatchObject(refused);
    expect(await runOf(id)).not.toBe(first);
    expect(await firstRunOf(id)).toBe(first);
    // All at once, so some of them meet the change of runs.
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => leaseAs(stand, id, `another-${at}`)));
    expect(answers.map(({ granted }) => granted)).toEqual(answers.map(() => true));
    expect((await claimAs(stand, id, 'another-0')).leasedBy).toHaveLength(8);
  });

  it('that has received many signals, or has a long history, continues as new', async ({ expect }) => {
    for (const [id, limits] of [
      ['bx_limits02', { signals: 5 }],
      ['bx_limits03', { historyEvents: 30 }],
    ] as const) {
      const { handle } = await holdJob(stand, `holder-${id.slice(-2)}`);
      await leaseAs(stand, id, handle.workflowId, { limits });
      const first = await runOf(id);
      for (let sent = 0; sent < 12; sent += 1) {
        const event = { type: 'sandbox.ready', createdAt: '', sandboxId: id, sandboxName: 'x' } as const;
        await watchOf(stand, id).signal(sandboxEventSignal, { ...event, id: `evt_${sent}` });
      }
      await expect.poll(() => runOf(id)).not.toBe(first);
      expect(await claimAs(stand, id, 'somebody')).toMatchObject({ granted: false, leasedBy: [handle.workflowId] });
      await handle.terminate();
    }
  });

  it('grants a lease when the claim is released, and a claim when the lease is over', async ({ expect }) => {
    const id = 'bx_limits04';
    expect(await claimAs(stand, id, 'cleanup', 60_000)).toMatchObject({ granted: true });
    expect(await leaseAs(stand, id, 'borrower')).toMatchObject({ granted: false, claimedBy: ['cleanup'] });
    expect(await claimAs(stand, id, 'job'), 'two claims exclude each other').toMatchObject({ claimedBy: ['cleanup'] });
    await releaseAs(stand, id, 'cleanup');
    expect(await leaseAs(stand, id, 'borrower', { lastsMs: 1_500 })).toMatchObject({ granted: true });
    expect(await claimAs(stand, id, 'cleanup')).toMatchObject(refused);
    await expect.poll(() => claimAs(stand, id, 'cleanup'), { timeout: 5_000 }).toMatchObject({ granted: true });
    await expect
      .poll(async () => (await watchOf(stand, id).describe()).status.name, { timeout: 5_000 })
      .toBe('COMPLETED');
  });

  it('answers thirty jobs at once, although Temporal accepts ten Updates at a time', async ({ expect }) => {
    const sandboxId = await usableSandbox(stand);
    const input = { source: { kind: 'existing' as const, sandboxId }, end: 'keep' as const, prompts: [] };
    const jobs = await Promise.all(
      Array.from({ length: 30 }, () => stand.start({ ...input, commands: ['true'], deadlineMs: 40_000 })),
    );
    const results = await Promise.all(jobs.map((job) => job.result()));
    expect(results.map(({ outcome }) => outcome)).toEqual(jobs.map(() => 'completed'));
  });
});

describe('a busy batch', () => {
  it('that continues as new every few events keeps its lease, and detects a terminated chunk', async () => {
    const sandboxId = await archivedSandbox(stand);
    const pace = { maxHistoryEvents: 40, checkChunksEveryMs: 1_500 };
    const timing = { ...shortTiming, leaseLastsMs: 10_000, renewLeaseEveryMs: 2_000 };
    const input = await submitInChunks(
      stand,
      fanoutInput(source(sandboxId), { pace, timing, policy: { concurrency: 4 } }),
      items(16, () => 'sleep 3'),
      4,
    );
    await expect.poll(async () => (await chunkOf(stand, input, 0).describe()).status.name).toBe('RUNNING');
    await chunkOf(stand, input, 0).terminate();
    const runs = new Set<string>();
    const lost: unknown[] = [];
    let isOver = false;
    const looking = (async () => {
      while (!isOver) {
        const { runId, status } = await batchOf(stand, input).describe();
        if (status.name !== 'RUNNING') break;
        runs.add(runId);
        const { phase } = await batchOf(stand, input).query<{ phase: string }>('fanoutProgress');
        const claim = phase === 'running' ? await claimAs(stand, sandboxId, 'somebody', 1) : { granted: false };
        if (claim.granted) lost.push(claim);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    })();
    const result = await ended(stand, input);
    isOver = true;
    await looking;
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 16 } });
    expect(runs.size).toBeGreaterThan(3);
    // One may arrive between the end of the batch and the next read.
    expect(lost.length).toBeLessThanOrEqual(1);
  }, 180_000);
});
