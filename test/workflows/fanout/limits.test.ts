import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itemWorkflowId } from '../../../src/addresses/addresses.js';
import { createItemLooks } from '../../../src/cli/fanout/progress/item-looks.js';
import { cancelFanout } from '../../../src/workflow-client/fanouts/fanout-client.js';
import type { FanoutProgress } from '../../../workflows/index.js';
import { createStand, deployment, type Stand, script, shortTiming } from '../workflow-harness.js';
import {
  archivedSandbox,
  ended,
  fanoutInput,
  forks,
  items,
  lines,
  mostAtOnce,
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
    const look = async (room: number) => {
      await looks.look(room, signal);
      return looks.list(signal);
    };
    await expect.poll(() => look(5)).toMatchObject({ rows: [row], indexes: new Set([0]) });
    const length = async () =>
      (await stand.client.workflow.getHandle(itemWorkflowId(deployment, input.batchId, 0)).describe()).historyLength;
    const before = await length();
    for (let times = 0; times < 3; times += 1) await looks.look(5, signal);
    expect(await looks.list(signal)).toMatchObject({ rows: [row] });
    expect(await length()).toBe(before);
    await cancelFanout(stand.client, input);
    await ended(stand, input);
    // The row of an item that has ended since the last look is dropped by a list alone.
    expect(await looks.list(signal)).toEqual({ rows: [], indexes: new Set() });
  });
});
