/** A held batch whose worker goes, and whose workflows are reset. Slow; costs some 10 CPU seconds. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  fanoutInput,
  forks,
  items,
  leftForks,
  source,
  submitInChunks,
} from '../../../workflows/fanout/fanout-harness.js';
import { heldBatch, refused } from '../../../workflows/fanout/held-batches.js';
import { createStand, patient, type Stand } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

/** Starts the newest run of a workflow again from its first workflow task. */
async function resetToStart(workflowId: string): Promise<void> {
  const { runId } = await stand.client.workflow.getHandle(workflowId).describe();
  const history = await stand.client.workflow.getHandle(workflowId, runId).fetchHistory();
  const completed = history.events?.find(({ workflowTaskCompletedEventAttributes: done }) => done != null);
  await stand.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: completed?.eventId,
    requestId: `reset-${runId}`,
    reason: 'test',
  });
}

it('a held batch stays held through continue-as-new, a worker that is killed, and resets of batch and chunk', async () => {
  const policy = { concurrency: 3, breaker: 2 };
  const input = fanoutInput(source(sandboxId), { policy, pace: { maxHistoryEvents: 60 } });
  await submitInChunks(stand, input, [...refused(6), ...items(6)], 3);
  const before = await heldBatch(stand, input);
  expect(before.held).toMatchObject({ by: 'breaker', outcome: 'rejected' });
  const started = forks(stand, input).length;
  expect(started).toBeLessThanOrEqual(4);
  const { runId, raw } = await batchOf(stand, input).describe();
  expect(runId, 'the batch has not continued as new').not.toBe(raw.workflowExecutionInfo?.firstRunId);

  await stand.restartWorker(async () => {
    await resetToStart(batchOf(stand, input).workflowId);
    await resetToStart(chunkOf(stand, input, 0).workflowId);
  });
  // Temporal gives the batch once more what it had received, which takes a moment.
  const counts = { items: 12, running: 0, failed: started, completed: 0 };
  const kept = { counts, held: { by: 'breaker', outcome: 'rejected' }, outcome: null };
  await expect.poll(() => fanoutProgress(stand.client, input), patient).toMatchObject(kept);
  expect(forks(stand, input)).toHaveLength(started);

  // Those that are refused may hold the batch once more.
  let resumed: string | undefined;
  const result = await vi.waitFor(async () => {
    const now = await fanoutProgress(stand.client, input);
    if (now.held && now.held.since !== resumed) await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    resumed = now.held?.since;
    expect(now.outcome).not.toBeNull();
    return now;
  }, patient);
  expect(result).toMatchObject({ outcome: 'partly_failed', counts: { completed: 6, failed: 6 } });
  expect(forks(stand, input)).toHaveLength(12);
  expect(leftForks(stand, input)).toEqual([]);
});
