import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { itemWorkflowId } from '../../../../src/addresses/addresses.js';
import { cancelFanout, fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import { listFanouts } from '../../../../src/workflow-client/list-executions.js';
import { addFanoutChunk, sealFanout, startFanout } from '../../../workflows/fanout/by-chunks.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  forks,
  items,
  leftForks,
  lines,
  promptedForks,
  source,
  storedGenerations,
  submit,
  submitInChunks,
} from '../../../workflows/fanout/fanout-harness.js';
import { createStand, deployment, patient, type Stand } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
let marks: string;
/** Takes long the first time in any fork, and no time afterwards. */
const longOnce = (mark: string) => `mkdir ${marks}/${mark} && sleep 600 || echo again`;
/** Lasts until it is released. */
const untilLetGo = (mark: string) => `mkdir ${marks}/${mark}; while [ ! -e ${marks}/go-${mark} ]; do sleep 0.2; done`;
const letGo = (...names: readonly string[]) => Promise.all(names.map((mark) => mkdir(join(marks, `go-${mark}`))));

beforeAll(async () => {
  marks = await mkdtemp(join(tmpdir(), 'sandflow-marks-'));
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(async () => {
  await stand.close();
  await rm(marks, { recursive: true });
});

const completed = async (input: { readonly deployment: string; readonly batchId: string }) =>
  (await fanoutProgress(stand.client, input)).counts.completed;

describe.concurrent('a batch', () => {
  it('continues as new while its chunks run, and stays the same batch with its first start', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), {
      title: 'long',
      pace: { maxHistoryEvents: 40 },
      policy: { concurrency: 4 },
    });
    await submitInChunks(stand, input, items(10), 3);
    const result = await ended(stand, input);
    expect(result).toMatchObject({
      outcome: 'completed',
      title: 'long',
      chunks: 4,
      counts: { items: 10, completed: 10 },
    });
    const { raw, runId, startTime } = await batchOf(stand, input).describe();
    expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(runId);
    const { startedAt } = result;
    expect(Date.parse(startedAt), 'the start of the newest run is later').toBeLessThan(startTime.getTime());
    expect(result.batchKey).toBe(raw.workflowExecutionInfo?.firstRunId);
    expect(promptedForks(stand, input)).toHaveLength(10);
    const listed = await listFanouts(stand.client, { deployment });
    expect(listed.filter(({ batchId }) => batchId === input.batchId)).toMatchObject([
      { title: 'long', status: 'completed', startedAt },
    ]);
  });

  it('that was terminated continues when it is resumed, and repeats nothing: its chunks have kept running', async ({
    expect,
  }) => {
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 6 } });
    await submitInChunks(
      stand,
      input,
      items(6, (at) => (at < 3 ? 'echo quick' : untilLetGo(`lived-${at}`))),
      3,
    );
    await expect.poll(() => completed(input)).toBe(3);
    await expect(resumeFanout(stand.client, input, { taskQueue: stand.taskQueue })).rejects.toMatchObject({
      code: 'fanout_runs',
    });
    await batchOf(stand, input).terminate();
    await expect(ended(stand, input)).rejects.toMatchObject({ code: 'fanout_lost' });
    await letGo('lived-3', 'lived-4', 'lived-5');
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'completed', sealed: true, counts: { items: 6, completed: 6 } });
    expect(promptedForks(stand, input).sort()).toEqual(['i0-1', 'i1-1', 'i2-1', 'i3-1', 'i4-1', 'i5-1']);
    expect((await lines(stand, result)).map(({ outcome }) => outcome)).toEqual(Array(6).fill('completed'));
  });

  it('with terminated chunks adopts the items that still run, and repeats nothing', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 4 } });
    await submitInChunks(
      stand,
      input,
      items(4, (at) => (at < 2 ? 'echo quick' : untilLetGo(`both-${at}`))),
      4,
    );
    await expect.poll(() => [2, 3].every((at) => existsSync(join(marks, `both-${at}`)))).toBe(true);
    await expect.poll(() => completed(input)).toBe(2);
    await batchOf(stand, input).terminate();
    await chunkOf(stand, input, 0).terminate();
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    await letGo('both-2', 'both-3');
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'completed', counts: { items: 4, completed: 4 } });
    expect(promptedForks(stand, input).sort()).toEqual(['i0-1', 'i1-1', 'i2-1', 'i3-1']);
    expect(leftForks(stand, input)).toEqual([]);
  });

  it('notices a terminated chunk, and starts it again without what is done', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 4 } });
    await submitInChunks(
      stand,
      input,
      items(4, (at) => (at < 2 ? 'echo quick' : untilLetGo(`chunk-${at}`))),
      4,
    );
    await expect.poll(() => [2, 3].every((at) => existsSync(join(marks, `chunk-${at}`)))).toBe(true);
    await expect.poll(() => completed(input)).toBe(2);
    await chunkOf(stand, input, 0).terminate();
    await letGo('chunk-2', 'chunk-3');
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'completed', counts: { items: 4, completed: 4 } });
    expect(promptedForks(stand, input).sort()).toEqual(['i0-1', 'i1-1', 'i2-1', 'i3-1']);
  });

  it('continues with an item whose workflow was terminated, in its fork and with its prompt', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 2 } });
    const untilLeave = `mkdir ${marks}/begun; while [ ! -e ${marks}/leave ]; do sleep 0.2; done; echo at last`;
    await submit(
      stand,
      input,
      items(2, (at) => (at === 0 ? untilLeave : 'echo quick')),
    );
    await expect.poll(() => existsSync(join(marks, 'begun'))).toBe(true);
    const item = stand.client.workflow.getHandle(itemWorkflowId(deployment, input.batchId, 0));
    const { runId } = await item.describe();
    await item.terminate();
    await expect.poll(async () => (await item.describe()).runId).not.toBe(runId);
    await mkdir(join(marks, 'leave'));
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 2, retried: 0 } });
    expect((await lines(stand, result))[0]?.job?.prompts[0]?.result).toContain('at last');
    expect(promptedForks(stand, input).sort()).toEqual(['i0-1', 'i1-1']);
    expect(leftForks(stand, input)).toEqual([]);
  });

  it('gives up an item whose workflow is terminated repeatedly, and settles all that it could cost', async ({
    expect,
  }) => {
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 2 } });
    await submit(
      stand,
      input,
      items(1, () => 'sleep 600'),
    );
    const item = stand.client.workflow.getHandle(itemWorkflowId(deployment, input.batchId, 0));
    const seen = new Set<string>();
    for (let losses = 0; losses < 3; losses += 1) {
      const { runId } = await vi.waitFor(async () => {
        const run = await item.describe();
        if (seen.has(run.runId)) throw new Error('It has not been started again.');
        return run;
      }, patient);
      seen.add(runId);
      await stand.client.workflow.getHandle(item.workflowId, runId).terminate();
    }
    const result = await ended(stand, input);
    expect(result).toMatchObject({
      outcome: 'partly_failed',
      counts: { failed: 1, byOutcome: { outcome_unknown: 1 } },
      left: [{ kind: 'sandbox', sandboxName: expect.stringContaining('-i0-1') }],
    });
    expect(result.budget.spentSeconds).toBeGreaterThan(input.policy.itemDeadlineMs / 1_000);
    expect(await storedGenerations(stand, result, 0)).toMatchObject([{ outcome: 'outcome_unknown', job: null }]);
  });

  it('that was cancelled runs missing and failed items when it is resumed', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 2 } });
    const commands = ['exit 3', 'echo quick', longOnce('cut-2'), longOnce('cut-3'), 'echo late'];
    await submit(
      stand,
      input,
      items(5, (at) => commands[at] ?? ''),
    );
    await expect
      .poll(async () => (await fanoutProgress(stand.client, input)).counts.byOutcome)
      .toEqual({ prompt_failed: 1, completed: 1 });
    await expect.poll(() => ['cut-2', 'cut-3'].every((mark) => existsSync(join(marks, mark)))).toBe(true);
    await cancelFanout(stand.client, input);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'cancelled', counts: { completed: 1 } });
    await resumeFanout(stand.client, input, {
      taskQueue: stand.taskQueue,
      retryFailed: false,
      policy: { concurrency: 5 },
    });
    const once = await ended(stand, input);
    expect(once).toMatchObject({ outcome: 'partly_failed', counts: { byOutcome: { completed: 4, prompt_failed: 1 } } });
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    const twice = await ended(stand, input);
    expect(twice).toMatchObject({
      outcome: 'partly_failed',
      counts: { byOutcome: { completed: 4, prompt_failed: 1 } },
    });
    expect(twice.batchKey).toBe(once.batchKey);
    const generations = (await lines(stand, twice)).map(({ index, generation }) => [index, generation]);
    expect(generations).toEqual([
      [0, 2],
      [1, 1],
      [2, 2],
      [3, 2],
      [4, 1],
    ]);
    const names = forks(stand, input).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('accepts no other items under a known number, and is not sealed while a chunk is missing', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId));
    await startFanout(stand.client, input, { taskQueue: stand.taskQueue });
    await addFanoutChunk(stand.client, input, { chunk: 0, firstIndex: 0, items: items(2) });
    await addFanoutChunk(stand.client, input, { chunk: 0, firstIndex: 0, items: items(2) });
    const others = { chunk: 0, firstIndex: 0, items: items(3) };
    await expect(addFanoutChunk(stand.client, input, others)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('other items'),
    });
    await addFanoutChunk(stand.client, input, { chunk: 2, firstIndex: 3, items: items(1) });
    const missing = sealFanout(stand.client, input, { chunks: 3, items: 4 });
    await expect(missing).rejects.toMatchObject({ code: 'refused', message: expect.stringContaining('missing: 1') });
    await addFanoutChunk(stand.client, input, { chunk: 1, firstIndex: 2, items: items(1) });
    await sealFanout(stand.client, input, { chunks: 3, items: 4 });
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { items: 4, completed: 4 } });
  });
});
