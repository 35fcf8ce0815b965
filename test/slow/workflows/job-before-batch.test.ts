/** A job of priority 1 beside a batch of 10,000 items. Slow: some minutes. */
import { expect, it } from 'vitest';
import type { SandboxClient } from '../../../src/client/index.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { changedBy } from '../../workflows/changed-stand.js';
import { archivedSandbox, batchOf, fanoutInput, items, source, submit } from '../../workflows/fanout/fanout-harness.js';
import { createStand, jobInput, withoutPolls } from '../../workflows/workflow-harness.js';

it('begins within 5 s, although thousands of items wait for the worker', async () => {
  const change: Partial<SandboxClient> = {};
  // Forks come as fast as the worker takes them.
  const stand = await createStand({ worker: { forksPerSecond: 1_000 }, through: changedBy(() => change) });
  try {
    const policy = { concurrency: 2_000 };
    const batch = fanoutInput(source(await archivedSandbox(stand)), { timing: withoutPolls, policy });
    await submit(stand, batch, items(10_000));
    const running = `WorkflowId STARTS_WITH '${batchOf(stand, batch).workflowId}/i' AND ExecutionStatus = 'Running'`;
    await expect
      .poll(async () => (await stand.client.workflow.count(running)).count, { timeout: 600_000 })
      .toBeGreaterThan(500);
    const jobId = 'urgent';
    const begun = new Promise<number>((resolve) => {
      change.createSandbox = (body, options) => {
        if (body?.name?.includes(`-${jobId}-`)) resolve(Date.now());
        return stand.api.createSandbox(body, options);
      };
    });
    const startedAtMs = Date.now();
    const { handle } = await startJob(stand.client, jobInput({ jobId, priority: 1 }), { taskQueue: stand.taskQueue });
    expect((await begun) - startedAtMs).toBeLessThan(5_000);
    await handle.terminate();
    await batchOf(stand, batch).terminate();
  } finally {
    await stand.close();
  }
});
