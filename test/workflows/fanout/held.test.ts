/** Batches that start no more items because these fail alike, on a real server. Tier: temporal. */
import { Client, type WorkflowClientInterceptor, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import {
  cancelFanout,
  type FanoutAddress,
  fanoutProgress,
} from '../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../src/workflow-client/fanouts/resume-fanout.js';
import { openListener } from '../notification/listener.js';
import { createStand, deployment, patient, type Stand } from '../workflow-harness.js';
import {
  archivedSandbox,
  chunkOf,
  ended,
  fanoutInput,
  forks,
  items,
  leftForks,
  lines,
  source,
  submit,
  submitInChunks,
} from './fanout-harness.js';
import { heldBatch, refused } from './held-batches.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

const held = (batch: FanoutAddress, since?: string) => heldBatch(stand, batch, since);

const resume = (batch: FanoutAddress) => resumeFanout(stand.client, batch, { taskQueue: stand.taskQueue });

/** The same by a client with an interceptor of its request. */
const resumeBy = (batch: FanoutAddress, startUpdate: NonNullable<WorkflowClientInterceptor['startUpdate']>) => {
  const client = new Client({ ...stand.client.options, interceptors: { workflow: [{ startUpdate }] } });
  return resumeFanout(client, batch, { taskQueue: stand.taskQueue });
};

describe.concurrent('a batch', () => {
  it('of which every item is refused starts few of them over many chunks, tells it, and goes on only when asked', async ({
    expect,
  }) => {
    const listener = await openListener();
    const policy = { concurrency: 6, breaker: 3 };
    const input = fanoutInput(source(sandboxId), { policy, notify: { url: listener.url } });
    await submitInChunks(stand, input, refused(40), 4);
    const first = await held(input);
    expect(first).toMatchObject({ phase: 'running', outcome: null, held: { by: 'breaker', outcome: 'rejected' } });
    expect(first.held?.count).toBeGreaterThanOrEqual(3);
    expect(first.blocked?.message).toContain(`${first.held?.count} items in a row failed alike (rejected, `);
    expect(first.blocked?.message).toContain(`sandflow fanout resume ${input.batchId}`);
    expect(forks(stand, input).length).toBeLessThanOrEqual(8);
    const told = () => listener.toldOf(jobWorkflowId(deployment, input.batchId)).map(({ body }) => JSON.parse(body));
    await vi.waitFor(() => expect(told()).toHaveLength(1), patient);
    expect(told()[0]).toMatchObject({ event: 'blocked', outcome: null, message: first.blocked?.message });

    const change = { taskQueue: stand.taskQueue, policy: { breaker: 0 } };
    await expect(resumeFanout(stand.client, input, change)).rejects.toMatchObject({ code: 'fanout_runs' });
    const ids: unknown[] = [];
    const unanswered = resumeBy(input, async (update, next) => {
      const request = await next(update);
      if (ids.push(update.options.updateId) > 1) return request;
      throw new WorkflowUpdateRPCTimeoutOrCancelledError('the answer was lost');
    });
    expect(await unanswered).toMatchObject({ started: false });
    expect(ids).toEqual([expect.any(String), ids[0]]);
    const second = await held(input, first.held?.since);
    expect(second.counts.failed).toBeGreaterThan(first.counts.failed);
    expect(forks(stand, input).length).toBeLessThanOrEqual(16);
    await expect(fanoutProgress(stand.client, input)).resolves.toMatchObject({ counts: { running: 0 } });

    await cancelFanout(stand.client, input);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'cancelled', blocked: null, held: { by: 'breaker' } });
    expect(result.counts.byOutcome).toEqual({ rejected: second.counts.failed, not_started: 40 - second.counts.failed });
    expect(leftForks(stand, input)).toEqual([]);
    await listener.close();
  });

  it('whose canaries fail alike starts no other item, and all of them after a resume', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { canary: 3 } });
    const all = items(9, (at) => (at < 3 ? 'exit 3' : 'echo fine'));
    await submitInChunks(stand, input, all, 2);
    expect(await held(input)).toMatchObject({
      held: { by: 'canary', outcome: 'prompt_failed', code: 'prompt_failed', count: 3 },
      counts: { failed: 3, queued: 6 },
      blocked: { message: expect.stringContaining('All 3 canaries failed alike (prompt_failed)') },
    });
    expect(forks(stand, input)).toHaveLength(3);
    const afterOther = resumeBy(input, async (update, next) => {
      await resume(input);
      return next(update);
    });
    expect(await afterOther).toMatchObject({ started: false });
    expect(await ended(stand, input)).toMatchObject({ outcome: 'partly_failed', counts: { completed: 6, failed: 3 } });
    // A resume of the ended batch runs the failed items again, and no canaries alone.
    expect(await resume(input)).toMatchObject({ started: true });
    expect(await ended(stand, input)).toMatchObject({ outcome: 'partly_failed', counts: { completed: 6, failed: 3 } });
  });

  it('whose canaries fail in different ways starts the others, after all canaries have ended', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { canary: 3, retries: 1 } });
    const all = [...refused(1), ...items(7, (at) => (at === 0 ? 'exit 3' : 'echo fine'))];
    await submit(stand, input, all);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'partly_failed', counts: { completed: 6, failed: 2, retried: 1 } });
    expect(result.held).toBeUndefined();
    const all8 = await lines(stand, result);
    const canariesEnd = Math.max(...all8.slice(0, 3).map(({ times }) => Date.parse(times.endingAt ?? '')));
    for (const { times } of all8.slice(3)) expect(Date.parse(times.forkedAt ?? '')).toBeGreaterThan(canariesEnd);
  });

  it('goes on with the other chunks if that of its canaries is cancelled', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { canary: 2, retries: 0 } });
    const all = items(6, (at) => (at < 2 ? 'sleep 60' : 'echo fine'));
    await submitInChunks(stand, input, all, 3);
    await vi.waitFor(() => expect(forks(stand, input)).toHaveLength(2), patient);
    await chunkOf(stand, input, 0).cancel();
    expect(await ended(stand, input)).toMatchObject({ outcome: 'partly_failed', counts: { completed: 3 } });
  });

  it('goes on after failures that another attempt may not meet, and after equal ones with others in between', async ({
    expect,
  }) => {
    const input = fanoutInput(source(sandboxId), { policy: { breaker: 2, concurrency: 1 } });
    const [fine, failing] = [items(3), items(4, () => 'exit 3')];
    const mixed = refused(3).flatMap((item, at) => [item, fine[at] ?? item]);
    await submit(stand, input, [...mixed, ...failing.map((item) => ({ ...item, id: `failing ${item.id}` }))]);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'partly_failed', counts: { completed: 3, failed: 7 } });
    expect(result.held).toBeUndefined();
  });
});
