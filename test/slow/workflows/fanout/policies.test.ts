import { afterAll, beforeAll, describe, it } from 'vitest';
import { cancelFanout, fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { addFanoutChunk, startFanout } from '../../../workflows/fanout/by-chunks.js';
import {
  archivedSandbox,
  ended,
  fanoutInput,
  forks,
  items,
  leftForks,
  lines,
  run,
  source,
  submit,
} from '../../../workflows/fanout/fanout-harness.js';
import { createStand, type Stand } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

describe.concurrent('a batch', () => {
  it('ends at the requested number of successes, and leaves no fork behind', async ({ expect }) => {
    const policy = { concurrency: 4, stopAt: { kind: 'successes', count: 2 } } as const;
    const input = fanoutInput(source(sandboxId), { policy });
    const result = await run(
      stand,
      input,
      items(12, (at) => (at < 2 ? 'echo quick' : 'sleep 60')),
    );
    expect(result).toMatchObject({ outcome: 'completed', error: null, leftSandboxIds: [] });
    expect(result.counts).toMatchObject({ items: 12, queued: 0, running: 0, completed: 2, failed: 0 });
    const { cancelled = 0, not_started: notStarted = 0 } = result.counts.byOutcome;
    expect(cancelled).toBeGreaterThan(0);
    expect(cancelled + notStarted).toBe(10);
    expect(leftForks(stand, input)).toEqual([]);
    expect(forks(stand, input).length).toBeLessThanOrEqual(6);
    expect((await lines(stand, result)).map(({ outcome }) => outcome)).toHaveLength(12);
  });

  it('ends with the first failed item on request', async ({ expect }) => {
    const policy = { concurrency: 3, stopAt: { kind: 'fail_fast' } } as const;
    const input = fanoutInput(source(sandboxId), { policy });
    const result = await run(
      stand,
      input,
      items(9, (at) => (at === 1 ? 'exit 3' : 'sleep 60')),
    );
    expect(result).toMatchObject({ outcome: 'failed_fast', error: { code: 'failed_fast' } });
    expect(result.counts).toMatchObject({
      completed: 0,
      failed: 1,
      byOutcome: { prompt_failed: 1, cancelled: 2, not_started: 6 },
    });
    expect(leftForks(stand, input)).toEqual([]);
  });

  it('retries a failed item in a new fork as its next generation, and continues with the others', async ({
    expect,
  }) => {
    const input = fanoutInput(source(sandboxId), { policy: { retries: 2 } });
    const result = await run(
      stand,
      input,
      items(3, (at) => (at === 1 ? 'exit 3' : 'echo fine')),
    );
    expect(result).toMatchObject({ outcome: 'partly_failed', counts: { completed: 2, failed: 1, retried: 2 } });
    const [, failed] = await lines(stand, result);
    expect(failed).toMatchObject({ outcome: 'prompt_failed', generation: 3 });
    const names = forks(stand, input).map(({ name }) => name.slice(-4));
    expect(names.sort()).toEqual(['i0-1', 'i1-1', 'i1-2', 'i1-3', 'i2-1']);
  });

  it('does not retry what the service refuses for good', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { retries: 2 } });
    const refused = { id: 'refused', prompts: [{ prompt: 'hi', provider: 'nobody' }] };
    const result = await run(stand, input, [refused]);
    expect(result.counts).toMatchObject({ failed: 1, retried: 0, byOutcome: { rejected: 1 } });
    expect(forks(stand, input)).toHaveLength(1);
  });

  it('limits each item to its own deadline', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { itemDeadlineMs: 60_000 } });
    const both = items(2, (at) => (at === 0 ? 'sleep 60' : 'echo quick'));
    const result = await run(
      stand,
      input,
      both.map((item, at) => (at === 0 ? { ...item, deadlineMs: 1_500 } : item)),
    );
    expect(result.counts.byOutcome).toEqual({ deadline_exceeded: 1, completed: 1 });
    expect(leftForks(stand, input)).toEqual([]);
  });

  it('that is cancelled interrupts its items, ends their forks and reports it', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 3, end: 'stop' } });
    await submit(
      stand,
      input,
      items(7, () => 'sleep 60'),
    );
    await expect
      .poll(
        () =>
          stand.service.books.prompts().filter(({ sandboxId: of }) => forks(stand, input).some(({ id }) => id === of))
            .length,
      )
      .toBe(3);
    await cancelFanout(stand.client, input);
    await cancelFanout(stand.client, input);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' }, leftSandboxIds: [] });
    expect(result.counts.byOutcome).toEqual({ cancelled: 3, not_started: 4 });
    expect(forks(stand, input).map(({ state }) => state)).toEqual(['archived', 'archived', 'archived']);
    await expect(cancelFanout(stand.client, input)).rejects.toMatchObject({ code: 'fanout_ended' });
    expect(await fanoutProgress(stand.client, input)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  it('ends at its deadline with any open items', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 2, deadlineMs: 9_000 } });
    const result = await run(
      stand,
      input,
      items(4, () => 'sleep 60'),
    );
    expect(result).toMatchObject({ outcome: 'deadline_exceeded', error: { code: 'deadline_exceeded' } });
    expect(result.counts.byOutcome).toEqual({ cancelled: 2, not_started: 2 });
    expect(leftForks(stand, input)).toEqual([]);
  });

  it('that is cancelled while it waits for missing items ends as cancelled', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId));
    await startFanout(stand.client, input, { taskQueue: stand.taskQueue });
    await addFanoutChunk(stand.client, input, { chunk: 0, firstIndex: 0, items: items(1) });
    await expect.poll(async () => (await fanoutProgress(stand.client, input)).counts.completed).toBe(1);
    expect(await fanoutProgress(stand.client, input)).toMatchObject({ sealed: false, phase: 'running' });
    await cancelFanout(stand.client, input);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'cancelled', counts: { items: 1, completed: 1 } });
  });
});
