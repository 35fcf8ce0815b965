import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { withEnding } from '../../../activities/fanout/store.js';
import { executionOf, itemStep, itemWorkflowId } from '../../../src/addresses/addresses.js';
import type { FanoutItemInput } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemResult, ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import { readStoredJson } from '../../../src/result-store/stored-json.js';
import type { fanoutItem, JobInput, JobOrigin } from '../../../workflows/index.js';
import { progressOf } from '../job-progress.js';
import { createStand, deployment, jobInput, letGo, patient, type Stand, script, untilGo } from '../workflow-harness.js';

let stand: Stand;
let sourceId: string;
beforeAll(async () => {
  stand = await createStand();
  const { sandbox } = await stand.api.createSandbox({ name: 'prepared' });
  sourceId = sandbox.id;
  await untilSourceIs('ready');
  await stand.api.writeFile(sourceId, { path: 'note', content: 'from the source\n', encoding: 'utf8' });
  await stand.api.stopSandbox(sourceId);
  await untilSourceIs('archived');
});
afterAll(() => stand.close());

/** `expect.poll` does not exist outside a test. */
const untilSourceIs = (state: string) =>
  vi.waitFor(async () => expect((await stand.api.getSandbox(sourceId)).sandbox.state).toBe(state), patient);

const keyOfBatch = () => `0198f000-0000-7000-8000-${randomBytes(6).toString('hex')}`;

interface ItemOver {
  readonly job?: Partial<JobInput>;
  readonly origin?: Partial<JobOrigin>;
  readonly chunkWorkflowId?: string;
}

const prefixOf = (batchId: string, key: string, index: number) =>
  `fanout/sf-${deployment}-${batchId}/${key}/items/${index}`;

function itemInput(batchId: string, index: number, { job, origin, chunkWorkflowId }: ItemOver = {}): FanoutItemInput {
  const key = origin?.key ?? keyOfBatch();
  const own = {
    key,
    execution: executionOf(key),
    batchId,
    step: itemStep(index),
    firstGeneration: 1,
    lookFirst: false,
    records: prefixOf(batchId, key, index),
  };
  return {
    job: jobInput({
      jobId: batchId,
      source: { kind: 'fork', sandboxId: sourceId },
      prompts: [{ prompt: script('cat note') }],
      ...job,
      origin: { ...own, ...origin },
    }),
    batchId,
    itemId: `item ${index}`,
    index,
    labels: { place: String(index) },
    type: 'large',
    queuedAt: new Date().toISOString(),
    resultPrefix: prefixOf(batchId, key, index),
    chunkWorkflowId: chunkWorkflowId ?? 'nobody',
  };
}

const start = (input: FanoutItemInput) =>
  stand.client.workflow.start<typeof fanoutItem>('fanoutItem', {
    workflowId: itemWorkflowId(deployment, input.batchId, input.index),
    taskQueue: stand.taskQueue,
    args: [input],
  });
/** The stored result, after the chunk has added how the item ended. */
async function resultOf({ resultRef, ending }: ItemSummary): Promise<ItemResult> {
  const stored = await readStoredJson<ItemResult>(stand.results, resultRef ?? '');
  return ending ? withEnding(stored, ending) : stored;
}
const forksOf = (batchId: string) =>
  stand.service.books.sandboxes().filter(({ name }) => name.startsWith(`sf-${deployment}-${batchId}-`));
const promptsOf = (batchId: string) => {
  const ids = forksOf(batchId).map(({ id }) => id);
  return stand.service.books.prompts().filter(({ sandboxId }) => ids.includes(sandboxId));
};
const phaseIs = (handle: Awaited<ReturnType<typeof start>>, phase: string) =>
  expect.poll(async () => (await progressOf(handle)).phase).toBe(phase);

describe('an item', () => {
  it('works in its own fork, and keeps its whole result', async () => {
    const input = itemInput('whole', 7);
    const summary = await (await start(input)).result();
    expect(summary).toMatchObject({ index: 7, generation: 1, outcome: 'completed', endedAsAsked: true, error: null });
    const stored = await resultOf(summary);
    expect(stored.job?.prompts[0]?.result).toContain('from the source');
    expect(stored).toMatchObject({ itemId: 'item 7', outcome: 'completed', labels: { place: '7' }, generation: 1 });
    const { queuedAt, forkedAt, usableAt, promptedAt, answeredAt, endingAt, endedAt } = stored.times;
    const order = [queuedAt, forkedAt, usableAt, promptedAt, answeredAt, endingAt, endedAt].map(String);
    expect(order).toEqual(order.toSorted());
    const ranMs = Date.parse(String(endedAt)) - Date.parse(String(forkedAt));
    expect(stored.machineSeconds).toBeCloseTo((ranMs / 1_000) * 2, 5);
    expect(summary.machineSeconds).toBe(stored.machineSeconds);
    expect(forksOf('whole')).toMatchObject([{ name: expect.stringMatching(/-i7-1$/), state: 'archived' }]);
  });
});

describe('a second run of an item after the first was terminated', () => {
  it('adopts its fork and its prompt', async () => {
    const job = { prompts: [{ prompt: script(`${untilGo}; echo through`) }] };
    const key = keyOfBatch();
    const first = await start(itemInput('again', 3, { job, origin: { key } }));
    await phaseIs(first, 'following');
    await first.terminate();
    const again = await start(itemInput('again', 3, { job, origin: { key, lookFirst: true } }));
    await letGo(stand, forksOf('again')[0]?.id);
    const second = await again.result();
    expect(second).toMatchObject({ outcome: 'completed', generation: 1, endedAsAsked: true });
    expect((await resultOf(second)).job?.prompts[0]?.result).toContain('through');
    expect([forksOf('again').length, promptsOf('again').length]).toEqual([1, 1]);
  });

  it('collects the answer from its fork that was stopped since, and prompts nothing', async () => {
    const key = keyOfBatch();
    const job = { prompts: [{ prompt: script(`${untilGo}; echo was done`) }] };
    const first = await start(itemInput('dead', 3, { job, origin: { key } }));
    await phaseIs(first, 'following');
    await stand.restartWorker(async () => {
      await first.terminate();
      await letGo(stand, forksOf('dead')[0]?.id);
      await expect.poll(() => promptsOf('dead')[0]?.status).toBe('completed');
      await stand.api.stopSandbox(forksOf('dead')[0]?.id ?? '');
    });
    const second = await (await start(itemInput('dead', 3, { job, origin: { key, lookFirst: true } }))).result();
    expect(second).toMatchObject({ outcome: 'completed', generation: 1, endedAsAsked: true });
    expect((await resultOf(second)).job?.prompts[0]?.result).toContain('was done');
    expect([forksOf('dead').length, promptsOf('dead').length]).toEqual([1, 1]);
  });
});

describe('a cancelled item', () => {
  it('interrupts its agent, stops its fork, and keeps its result', async () => {
    const handle = await start(itemInput('cancelled', 0, { job: { prompts: [{ prompt: script('sleep 600') }] } }));
    await phaseIs(handle, 'following');
    await handle.cancel();
    const summary = await handle.result();
    expect(summary).toMatchObject({ outcome: 'cancelled', endedAsAsked: true });
    expect((await resultOf(summary)).outcome).toBe('cancelled');
    expect(promptsOf('cancelled')).toMatchObject([{ status: 'interrupted' }]);
    expect(forksOf('cancelled')).toMatchObject([{ state: 'archived' }]);
  });
});

describe('the commands of a job', () => {
  it('run in order before the prompts, and need none', async () => {
    const commands = ['echo one > made', 'cat made && echo two >> made'];
    const result = await (await stand.start({ commands, prompts: [], collect: ['made'] })).result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [] });
    expect((await stand.results.get(result.files[0]?.ref ?? '')).toString('utf8')).toBe('one\ntwo\n');
  });
});
