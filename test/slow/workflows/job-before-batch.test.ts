/** A job of priority 1 beside a batch whose 10,000 items all start. Slow, since it measures time; costs some 60 s of CPU. */
import proto from '@temporalio/proto';
import { expect, it } from 'vitest';
import type { SandboxClient } from '../../../src/client/index.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { changedBy } from '../../workflows/changed-stand.js';
import { archivedSandbox, fanoutInput, items, source, submit } from '../../workflows/fanout/fanout-harness.js';
import { createStand, jobInput, type Stand, withoutPolls } from '../../workflows/workflow-harness.js';

it('begins within 5 s, although a thousand tasks of the batch wait for the worker', { timeout: 900_000 }, async () => {
  const change: Partial<SandboxClient> = {};
  const stand = await createStand({ worker: { forksPerSecond: 1_000 }, through: changedBy(() => change) });
  let end = (): void => undefined;
  try {
    const ended = new Promise<void>((resolve) => (end = resolve));
    // The items get no machine: what they would do with it is of no interest, and costs more than all else.
    change.forkSandbox = () => ended.then(() => Promise.reject(new Error('The test has ended.')));
    let letBegin = (): void => undefined;
    const mayBegin = new Promise<void>((resolve) => (letBegin = resolve));
    const sourceId = await archivedSandbox(stand);
    // No item starts before the batch has read its source.
    change.getSandbox = (id) => mayBegin.then(() => stand.api.getSandbox(id));
    const policy = { concurrency: 10_000 };
    await submit(stand, fanoutInput(source(sourceId), { timing: withoutPolls, policy }), items(10_000));
    letBegin();
    // Items start faster than the worker takes their first tasks.
    await expect.poll(() => waitingTasks(stand), { timeout: 600_000, interval: 250 }).toBeGreaterThan(1_000);
    const jobId = 'urgent';
    let hasBegun = false;
    change.createSandbox = (body, options) => {
      hasBegun ||= body?.name?.includes(`-${jobId}-`) === true;
      return stand.api.createSandbox(body, options);
    };
    await startJob(stand.client, jobInput({ jobId, priority: 1 }), { taskQueue: stand.taskQueue });
    await expect.poll(() => hasBegun, { timeout: 5_000 }).toBe(true);
  } finally {
    end();
    await stand.close();
  }
});

/** Tasks of workflows that the server holds, because the worker is busy with others. */
async function waitingTasks({ client, taskQueue }: Stand): Promise<number> {
  const { stats } = await client.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: taskQueue },
    taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    reportStats: true,
  });
  return Number(stats?.approximateBacklogCount);
}
