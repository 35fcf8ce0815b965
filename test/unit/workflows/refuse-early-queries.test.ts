/** Which queries the interceptor refuses, by the activations before them. */
import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { expect, test } from 'vitest';
import { earlyQueryText } from '../../../src/protocol/early-query.js';
import { interceptors } from '../../../workflows/shared/refuse-early-queries.js';

type Activation = Parameters<NonNullable<WorkflowInternalsInterceptor['activate']>>[0]['activation'];

/** Activations as the SDK creates them: `events` in all, the last of them in the task that started at `task`. */
const replayed = (events: number, task: number) => work(events, task, true);
const task = (events: number, at: number) => work(events, at, false);
function work(historyLength: number, at: number, isReplaying: boolean): Activation {
  const timestamp = { seconds: at, nanos: 0 } as unknown as Activation['timestamp'];
  const historySizeBytes = (at * 100) as unknown as Activation['historySizeBytes'];
  return { historyLength, timestamp, historySizeBytes, isReplaying, jobs: [{ fireTimer: { seq: 1 } }] };
}
const query: Activation = { jobs: [{ queryWorkflow: { queryId: 'legacy_query', queryType: 'progress' } }] };
const queryWithTask: Activation = { jobs: [{ queryWorkflow: { queryId: 'one', queryType: 'progress' } }] };

/** Plays activations of one cached workflow. @returns which of them were refused */
function refused(...activations: Activation[]): number[] {
  const { internals = [] } = interceptors();
  return activations.flatMap((activation, at) => {
    try {
      internals[0]?.activate?.({ activation, batchIndex: 0 }, () => undefined);
      return [];
    } catch (error) {
      expect(error).toMatchObject({ message: earlyQueryText });
      return [at];
    }
  });
}

test.each([
  ['a query between tasks', [task(3, 1), query, task(8, 2), query], []],
  ['a query after a replay', [replayed(3, 1), replayed(8, 2), query, task(12, 3), query, query], []],
  ['a query with the first task after a replay', [replayed(3, 1), task(8, 2), queryWithTask], []],
  ['a query after the second task after a replay', [replayed(3, 1), task(8, 2), task(12, 3), query], []],
  ['several activations of one task', [task(3, 1), task(3, 1), query], []],
  ['a query for events without a task', [replayed(3, 1), task(5, 1), query], [2]],
  ['anything after events without a task', [task(3, 1), task(5, 1), query, queryWithTask, task(8, 2)], [2, 3, 4]],
  ['a query after the first task after a replay', [replayed(3, 1), task(8, 2), query], [2]],
])('%s', (_, activations, expected) => {
  expect(refused(...activations)).toEqual(expected);
});
