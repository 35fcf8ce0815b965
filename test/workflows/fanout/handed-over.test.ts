/** Long waits of a batch for workflows that are not its children. Gate; costs some 4 CPU seconds. */
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { createStand, letGo, patient, type Stand, untilGo } from '../workflow-harness.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  forks,
  items,
  source,
  submit,
} from './fanout-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { follow: { minIntervalMs: 100, youngFollowMs: 1 } } });
});
afterAll(() => stand.close());

/** The heartbeat timeouts of these activities of the latest run, in seconds. */
async function beatsOf(workflow: WorkflowHandle, activity: string) {
  const { events } = await stand.client.workflow.getHandle(workflow.workflowId).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name === activity ? [Number(scheduled.heartbeatTimeout?.seconds)] : [],
  );
}

describe.concurrent('a batch waits with rare heartbeats after some minutes', () => {
  it('for the job that prepares its source, and takes its sandbox', async ({ expect }) => {
    const prepare = { kind: 'prepare', body: {}, put: [], commands: [`${untilGo}; echo made > seed`] } as const;
    const input = await submit(
      stand,
      fanoutInput({ ...prepare, prompts: [], deadlineMs: 60_000, end: 'delete' }),
      items(1, () => 'cat seed'),
    );
    await vi.waitFor(async () => expect(await beatsOf(batchOf(stand, input), 'awaitJob')).toEqual([40, 300]), patient);
    await vi.waitFor(() => letGo(stand, forks(stand, input)[0]?.id), patient);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { completed: 1 }, left: [] });
  });

  it('for items that an earlier run of a chunk started, and ends none of them twice', async ({ expect }) => {
    const input = fanoutInput(source(await archivedSandbox(stand)), { pace: { maxHistoryEvents: 10 } });
    // The end of the first one makes the chunk look at the length of its history.
    await submit(
      stand,
      input,
      items(2, (at) => (at === 0 ? 'true' : untilGo)),
    );
    const chunk = chunkOf(stand, input, 0);
    await vi.waitFor(async () => expect(await beatsOf(chunk, 'awaitItems')).toEqual([40, 300]), patient);
    await letGo(stand, forks(stand, input).find(({ name }) => name.endsWith('-i1-1'))?.id);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { completed: 2, retried: 0 } });
    expect(forks(stand, input)).toHaveLength(2);
  });
});
