import { afterAll, beforeAll, expect, it } from 'vitest';
import { itemWorkflowId } from '../../../src/addresses/addresses.js';
import { createStand, deployment, type Stand, withoutPolls } from '../workflow-harness.js';
import { eventsOf, tasksOf, workOf } from '../workflow-work.js';
import { archivedSandbox, batchOf, chunkOf, fanoutInput, items, run, source } from './fanout-harness.js';

let stand: Stand;
beforeAll(async () => {
  // The call that sends a prompt also follows it to its end.
  const follow = { minIntervalMs: 100, briefFollowMs: 30_000 };
  stand = await createStand({ worker: { forksPerSecond: 1_000, follow } });
});
afterAll(() => stand.close());

it('an item costs 38 events and at most 9 in its chunk, 7 tasks, 4 activities, one timer, and 6 to 8 calls', async () => {
  const size = 10;
  const sandboxId = await archivedSandbox(stand);
  const input = fanoutInput(source(sandboxId), {
    timing: withoutPolls,
    pace: { reportEveryMs: 1_000, checkChunksEveryMs: 600_000 },
    policy: { concurrency: size, end: 'stop' },
  });
  const before = stand.service.books.calls().length;
  expect(await run(stand, input, items(size))).toMatchObject({ outcome: 'completed', counts: { completed: size } });

  for (let index = 0; index < size; index += 1) {
    const item = await workOf(stand.client.workflow.getHandle(itemWorkflowId(deployment, input.batchId, index)));
    expect(item.activities).toEqual(['forkSandbox', 'getSandbox', 'sendAndFollowPrompt', 'stopSandbox']);
    expect(item).toMatchObject({ timers: 1, sent: 0, children: 0, memos: 0, markers: 0 });
    expect({ tasks: tasksOf(item), events: eventsOf(item) }).toEqual({ tasks: 7, events: 38 });
  }

  // An item costs its chunk three events of a child, and two tasks, which items share. All other work is for all items.
  const chunk = await workOf(chunkOf(stand, input, 0));
  const [batch, reports] = [await workOf(batchOf(stand, input)), chunk.sent];
  expect(chunk).toMatchObject({ children: size, signals: [], memos: 0, markers: 0 });
  expect(chunk.activities.filter((name) => name !== 'addItemEndings')).toEqual(['readFanoutChunk']);
  expect(chunk.activities.length - 1, 'one for each report at most').toBeLessThanOrEqual(reports);
  expect(chunk.timers, 'the deadline, and two for each report at most').toBeLessThanOrEqual(1 + 2 * reports);
  expect(batch).toMatchObject({ children: 1, sent: 1, memos: 1, markers: 0 });
  expect(batch.signals).toHaveLength(reports);
  expect(batch.activities).toEqual([
    'assembleFanout',
    'getSandbox',
    'getStop',
    'leaseSandbox',
    'storeObject',
    'storeObject',
  ]);

  const calls = stand.service.books.calls().slice(before);
  const counts: Record<string, number> = {};
  for (const { endpoint } of calls) counts[endpoint ?? ''] = (counts[endpoint ?? ''] ?? 0) + 1;
  // On a busy machine, the prompts end at different times: they are then looked for more than once, in the list or, if
  // only a few are left, one by one. The source is read once by the batch, and once after forks that end together. The
  // history is read after each prompt, and before those that are sent before one has shown that it is empty.
  const { listSandboxes: _, getSandbox = 0, getPrompt = 0, listEvents = 0, ...others } = counts;
  expect(getPrompt).toBeGreaterThanOrEqual(size);
  expect(getSandbox).toBeGreaterThanOrEqual(size + 2);
  expect(listEvents).toBeGreaterThan(size);
  expect(listEvents).toBeLessThanOrEqual(2 * size);
  expect(others).toEqual({ forkSandbox: size, sendPrompt: size, stopSandbox: size, getStop: 1 });
});
