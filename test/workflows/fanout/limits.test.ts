import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createItemLooks } from '../../../src/cli/fanout/progress/item-looks.js';
import { itemWorkflowId } from '../../../src/contract/workflow-safe/addresses.js';
import { cancelFanout, fanoutProgress } from '../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../src/workflow-client/fanouts/resume-fanout.js';
import type { FanoutProgress } from '../../../workflows/index.js';
import { heal } from '../stop/stop-harness.js';
import { createStand, deployment, type Stand, script, shortTiming } from '../workflow-harness.js';
import {
  archivedSandbox,
  ended,
  fanoutInput,
  forks,
  items,
  lines,
  mostAtOnce,
  run,
  source,
  submit,
  submitInChunks,
} from './fanout-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

/** The machine-seconds that the service has metered. */
const metered = (batch: { readonly batchId: string }) =>
  forks(stand, batch).reduce((sum, { meter }) => sum + meter.seconds, 0);

describe('the budget of a batch', () => {
  // A deadline of 300 s and a clean-up of 100 s reserve 400 machine-seconds per item, 800 for a large one.
  const itemDeadlineMs = 300_000;
  const timing = { ...shortTiming, cleanUpMs: 100_000 };

  it('lets as many items run at once as it has room for, and is never exceeded', async () => {
    const policy = { itemDeadlineMs, budgetSeconds: 1_300, concurrency: 8 };
    const input = await submitInChunks(stand, fanoutInput(source(sandboxId), { timing, policy }), items(6), 2);
    const seen: FanoutProgress[] = [];
    const result = await ended(stand, input, (progress) => seen.push(progress));
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 6 } });
    expect(mostAtOnce(await lines(stand, result))).toBeLessThanOrEqual(3);
    for (const { budget } of seen) expect(budget.spentSeconds + budget.reservedSeconds).toBeLessThanOrEqual(1_300);
    expect(result.budget).toMatchObject({ limitSeconds: 1_300, reservedSeconds: 0 });
    expect(metered(input)).toBeLessThanOrEqual(result.budget.spentSeconds);
  });

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

describe('the items of a batch', () => {
  it('can be looked at while they run, without a trace in their histories, and after the end', async () => {
    const [signal, policy] = [new AbortController().signal, { concurrency: 1 }];
    const input = fanoutInput(source(sandboxId), { policy });
    const [first, second] = items(2);
    const prompts = [{ prompt: `${script('echo at work')}\n${script('sleep 3600')}` }];
    await submit(
      stand,
      input,
      [{ ...first, id: 'die Tür', prompts }, second].filter((item) => item !== undefined),
    );
    const platform = { temporal: stand.client, service: stand.api, results: stand.results };
    const looks = createItemLooks(platform, input);
    const row = { index: 0, itemId: 'die Tür', phase: 'agent works', text: expect.stringContaining('at work') };
    await expect.poll(() => looks.look(5, signal)).toMatchObject([row]);
    const length = async () =>
      (await stand.client.workflow.getHandle(itemWorkflowId(deployment, input.batchId, 0)).describe()).historyLength;
    const before = await length();
    for (let look = 0; look < 3; look += 1) await looks.look(5, signal);
    expect(await looks.look(0, signal)).toEqual([]);
    expect(await length()).toBe(before);
    await cancelFanout(stand.client, input);
    await ended(stand, input);
    expect(await looks.look(5, signal)).toEqual([]);
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
