import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { jobWorkflowId } from '../../src/addresses/addresses.js';
import { describeFanout } from '../../src/workflow-client/fanouts/fanout-client.js';
import { awaitFanout } from '../../src/workflow-client/fanouts/submit-fanout.js';
import { cancelJob, startJob } from '../../src/workflow-client/jobs/job-client.js';
import { deployment, jobInput } from './workflow-harness.js';

let connection: Connection;
let client: Client;
beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  client = new Client({ connection });
});
afterAll(() => connection.close());

// No worker takes its tasks.
const taskQueue = 'nobody-takes-these';

it('a batch is not attached to or cancelled as a job with the same id', async () => {
  const jobId = `shared-${randomUUID().slice(0, 8)}`;
  const workflowId = jobWorkflowId(deployment, jobId);
  const batch = await client.workflow.start('forkFanout', { workflowId, taskQueue, args: [] });
  await expect(startJob(client, jobInput({ jobId }), { taskQueue })).rejects.toMatchObject({ code: 'not_a_job' });
  await expect(cancelJob(client, { deployment, jobId })).rejects.toMatchObject({ code: 'not_a_job' });
  await batch.terminate();
});

it('a job is not taken for a batch with the same id', async () => {
  const jobId = `shared-${randomUUID().slice(0, 8)}`;
  const { handle } = await startJob(client, jobInput({ jobId }), { taskQueue });
  const batch = { deployment, batchId: jobId };
  await expect(describeFanout(client, batch)).rejects.toMatchObject({ code: 'not_a_fanout' });
  await expect(awaitFanout(client, batch)).rejects.toMatchObject({ code: 'not_a_fanout' });
  await handle.terminate();
});
