/** A batch whose result store is away continues as new all the same. Extended, as it waits ten seconds, at 4 CPU seconds. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { notStored, sealUpdate } from '../../../../src/protocol/messages.js';
import { cancelFanout } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import { addFanoutChunk, sealFanout, startFanout } from '../../../workflows/fanout/by-chunks.js';
import {
  address,
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  forks,
  items,
  leftForks,
  source,
  submit,
} from '../../../workflows/fanout/fanout-harness.js';
import { createStand, type Stand, shortTiming, untilGo } from '../../../workflows/workflow-harness.js';

/** Set while writes wait for it. */
let slow: Promise<void> | null = null;
let goOn: () => void = () => undefined;
/** Ends of the keys whose reads and writes fail, as if the store were not mounted. */
const away = new Set<string>();
const failIfAway = (key: string) => {
  if ([...away].some((end) => key.endsWith(end))) throw new Error('the store is away');
};

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand({
    worker: { forksPerSecond: 1_000 },
    results: (store) => ({
      ...store,
      async put(key, content) {
        failIfAway(key);
        await slow;
        return store.put(key, content);
      },
      async get(ref, options) {
        failIfAway(ref);
        return store.get(ref, options);
      },
    }),
  });
  sandboxId = await archivedSandbox(stand);
});
afterEach(() => {
  away.clear();
  goOn();
  slow = null;
});
afterAll(() => stand.close());

const secondsOf = (time: { readonly seconds?: unknown } | null | undefined) => Number(time?.seconds ?? 0);

/** Every message makes the history of its run long. */
const shortRuns = () => fanoutInput(source(sandboxId), { ...address(), pace: { maxMessages: 1 } });
const runOf = async (input: ReturnType<typeof shortRuns>) => (await batchOf(stand, input).describe()).runId;

it('while items are submitted: they are sent again to the next run, and run once', async () => {
  const input = shortRuns();
  await startFanout(stand.client, input, { taskQueue: stand.taskQueue });
  const first = await runOf(input);
  away.add('chunks/0.json');
  const add = () => addFanoutChunk(stand.client, input, { chunk: 0, firstIndex: 0, items: items(2) });
  const adding = add();
  await expect.poll(() => runOf(input)).not.toBe(first);
  away.clear();
  await adding;
  const next = await runOf(input);
  await add();
  await expect.poll(() => runOf(input)).not.toBe(next);
  await add();
  await sealFanout(stand.client, input, { chunks: 1, items: 2 });
  expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { items: 2, completed: 2 } });
  expect(forks(stand, input)).toHaveLength(2);
});

it('while the batch is sealed: the seal is sent again', async () => {
  const input = shortRuns();
  await startFanout(stand.client, input, { taskQueue: stand.taskQueue });
  await addFanoutChunk(stand.client, input, { chunk: 0, firstIndex: 0, items: items(1) });
  away.add('chunks/seal.json');
  const seal = { chunks: 1, items: 1 };
  const refused = batchOf(stand, input).executeUpdate(sealUpdate, { args: [seal] });
  await expect(refused).rejects.toMatchObject({ cause: { type: notStored } });
  away.clear();
  await sealFanout(stand.client, input, seal);
  expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { items: 1, completed: 1 } });
});

it('while a resumed batch reads what is there: the next run reads it, and keeps its deadline', async () => {
  const input = shortRuns();
  const options = { taskQueue: stand.taskQueue };
  await startFanout(stand.client, input, options);
  const chunk = { chunk: 0, firstIndex: 0, items: items(1) };
  await addFanoutChunk(stand.client, input, chunk);
  await batchOf(stand, input).terminate('test');
  away.add('chunks/0.json');
  await resumeFanout(stand.client, input, options);
  const first = await runOf(input);
  const { startTime } = await batchOf(stand, input).describe();
  // It waits until the batch knows its items.
  const repeated = addFanoutChunk(stand.client, input, chunk);
  await expect.poll(() => runOf(input)).not.toBe(first);
  away.clear();
  await repeated;
  await sealFanout(stand.client, input, { chunks: 1, items: 1 });
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'completed', counts: { items: 1, completed: 1 } });
  expect(Date.parse(result.startedAt) - startTime.getTime()).toBeLessThan(1_000);
  expect(forks(stand, input)).toHaveLength(1);
});

it('a write that lasts sends heartbeats, so that the death of its worker does not go unnoticed for minutes', async () => {
  const input = fanoutInput(source(sandboxId));
  await startFanout(stand.client, input, { taskQueue: stand.taskQueue });
  slow = new Promise((resolve) => (goOn = resolve));
  const adding = addFanoutChunk(stand.client, input, { chunk: 0, firstIndex: 0, items: items(1) });
  const hasBeaten = async () => {
    const { raw } = await batchOf(stand, input).describe();
    const write = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'storeObject');
    return secondsOf(write?.lastHeartbeatTime) > secondsOf(write?.lastStartedTime);
  };
  await expect.poll(hasBeaten).toBe(true);
  goOn();
  await adding;
  await sealFanout(stand.client, input, { chunks: 1, items: 1 });
  expect(await ended(stand, input)).toMatchObject({ outcome: 'completed' });
});

describe('a resumed batch that is cancelled while it reads what is there', () => {
  /** A batch of one item that lasts, terminated and resumed while the store is away. */
  async function resumedWhileAway(cleanUpMs: number) {
    const input = fanoutInput(source(sandboxId), { ...address(), timing: { ...shortTiming, cleanUpMs } });
    await submit(
      stand,
      input,
      items(1, () => untilGo),
    );
    await expect.poll(() => leftForks(stand, input)[0]?.state).toBe('running');
    await batchOf(stand, input).terminate('test');
    away.add('chunks/0.json');
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    await cancelFanout(stand.client, input);
    return input;
  }

  it('ends by name without the store, and cancels the chunks that run', async () => {
    const input = await resumedWhileAway(3_000);
    const chunk = { chunk: 1, firstIndex: 1, items: items(1) };
    const adding = addFanoutChunk(stand.client, input, chunk).catch(({ message }) => message);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'cancelled', error: { code: 'clean_up_unfinished' }, resultsRef: null });
    expect(result.error?.message).toContain('1 chunk');
    expect(await adding).toMatch(/accepts no items|has ended/);
    await expect.poll(async () => (await chunkOf(stand, input, 0).describe()).status.name).toBe('COMPLETED');
    expect(leftForks(stand, input)).toEqual([]);
  });

  it('ends what runs if the store comes back in time', async () => {
    const input = await resumedWhileAway(60_000);
    away.clear();
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' }, left: [] });
    expect(leftForks(stand, input)).toEqual([]);
  });
});
