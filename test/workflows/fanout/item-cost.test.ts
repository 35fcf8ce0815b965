import { afterAll, beforeAll, expect, it } from 'vitest';
import { itemWorkflowId } from '../../../src/contract/workflow-safe/addresses.js';
import { createStand, deployment, type Stand, withoutPolls } from '../workflow-harness.js';
import { archivedSandbox, batchOf, chunkOf, fanoutInput, items, run, source } from './fanout-harness.js';

let stand: Stand;
beforeAll(async () => {
  // Prompts end before the workflow is told their ids.
  const follow = { minIntervalMs: 100, announceAfterMs: 600_000 };
  stand = await createStand({ worker: { forksPerSecond: 1_000, follow } });
});
afterAll(() => stand.close());

/**
 * What a workflow did, in numbers that a busy machine does not change. A task may serve several of its causes, and a
 * task that timed out is repeated: so its causes are counted. A delivery that is repeated counts once.
 */
async function workOf(workflow: Pick<ReturnType<typeof batchOf>, 'fetchHistory'>) {
  const { events = [] } = await workflow.fetchHistory();
  const all = events ?? [];
  const count = (kind: string) => all.filter((event) => event[kind as keyof typeof event]).length;
  const activities = all.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
  const signals = all.flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
    signal ? `${signal.signalName} ${Buffer.from(signal.input?.payloads?.[0]?.data ?? []).toString()}` : [],
  );
  return {
    activities: activities.toSorted(),
    timers: count('timerStartedEventAttributes'),
    signals: [...new Set(signals)],
    sent: count('signalExternalWorkflowExecutionInitiatedEventAttributes'),
    children: count('startChildWorkflowExecutionInitiatedEventAttributes'),
    memos: count('workflowPropertiesModifiedEventAttributes'),
    markers: count('markerRecordedEventAttributes'),
  };
}

type Work = Awaited<ReturnType<typeof workOf>>;

/** Workflow tasks if each has one cause: the start, the end of an activity, or a signal. */
const tasksOf = ({ activities, signals }: Work) => 1 + activities.length + signals.length;
/** Events if each task has one cause. Start and end are two. */
const eventsOf = (work: Work) =>
  2 + 3 * tasksOf(work) + 3 * work.activities.length + work.signals.length + work.timers + work.memos + work.markers;

it('an item costs 38 events and at most 9 in its chunk, 7 tasks, 4 activities, one timer, and 7 calls', async () => {
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
  // Two are for the source, and all follows share the list.
  const own = calls.filter(({ endpoint }) => endpoint !== 'listSandboxes').length - 2;
  expect(own / size).toBe(7);
});
