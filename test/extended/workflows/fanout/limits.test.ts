import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelFanout, fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import {
  archivedSandbox,
  ended,
  fanoutInput,
  forks,
  items,
  lines,
  run,
  source,
  submitInChunks,
} from '../../../workflows/fanout/fanout-harness.js';
import { heal } from '../../../workflows/stop/stop-harness.js';
import { createStand, type Stand, script, shortTiming } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

describe('the budget of a batch', () => {
  // A deadline of 300 s and a clean-up of 100 s reserve 400 machine-seconds per item, 800 for a large one.
  const itemDeadlineMs = 300_000;
  const timing = { ...shortTiming, cleanUpMs: 100_000 };

  it('ends the batch without room for another item, also after a resume, and not with a larger budget', async () => {
    const policy = { itemDeadlineMs, budgetSeconds: 802, concurrency: 8, type: 'large' } as const;
    const input = await submitInChunks(
      stand,
      fanoutInput(source(sandboxId), { timing, policy }),
      items(4, () => 'sleep 1.5'),
      2,
    );
    const first = await ended(stand, input);
    expect(first).toMatchObject({ outcome: 'budget_spent', error: { code: 'budget_spent' } });
    expect(first.counts).toMatchObject({ completed: 1, byOutcome: { completed: 1, not_started: 3 } });
    expect(first.budget.spentSeconds).toBeGreaterThan(1);
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    const again = await ended(stand, input);
    expect(again).toMatchObject({ outcome: 'budget_spent', counts: { completed: 1 }, budget: first.budget });
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue, policy: { budgetSeconds: 6_000 } });
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { completed: 4 } });
    expect(forks(stand, input)).toHaveLength(4);
  });
});

describe('a service that refuses until someone fixes it', () => {
  it('is shown by the batch, which can still be cancelled', async () => {
    await stand.fault({ kind: 'error', endpoint: 'forkSandbox', status: 401, code: 'unauthorized', times: 1_000 });
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 2 } });
    await submitInChunks(stand, input, items(3), 3);
    const blocked = async () => (await fanoutProgress(stand.client, input)).blocked?.message;
    await expect.poll(blocked).toContain('unauthorized');
    await cancelFanout(stand.client, input);
    const result = await ended(stand, input);
    await heal(stand);
    expect(result).toMatchObject({
      outcome: 'cancelled',
      blocked: null,
      counts: { byOutcome: { cancelled: 2, not_started: 1 } },
    });
    expect(forks(stand, input)).toEqual([]);
  });
});

describe('a batch whose items together exceed a payload', () => {
  it('accepts them in several chunks, and lists those that it never started', async () => {
    const prompt = `${script('echo large')}\n${'long '.repeat(4_000)}`;
    // Only two can succeed before the others are cancelled.
    const endless = `${script('sleep 600')}\n${'long '.repeat(4_000)}`;
    const many = Array.from({ length: 300 }, (_, at) => ({
      id: `item-${at}`,
      prompts: [{ prompt: at < 2 ? prompt : endless }],
    }));
    const policy = { concurrency: 3, stopAt: { kind: 'successes', count: 2 } } as const;
    const result = await run(stand, fanoutInput(source(sandboxId), { policy }), many);
    expect(result).toMatchObject({ outcome: 'completed', chunks: 13, counts: { items: 300 } });
    const results = await lines(stand, result);
    expect(results.map(({ itemId }) => itemId)).toEqual(many.map(({ id }) => id));
    const last = results.at(-1);
    expect(last).toMatchObject({ outcome: 'not_started', generation: 0, job: null, times: { queuedAt: null } });
    expect(forks(stand, result).length).toBeLessThanOrEqual(5);
  });
});
