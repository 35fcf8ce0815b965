import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createOwnerReader } from '../../../activities/cleanup/owners.js';
import {
  executionOf,
  itemStep,
  itemWorkflowId,
  jobWorkflowId,
  ownedSandboxName,
} from '../../../src/addresses/addresses.js';
import { endedKey } from '../../../src/protocol/ended-sandbox.js';

const deployment = 'test';
let connection: Connection;
let client: Client;
beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  client = new Client({ connection });
});
afterAll(() => connection.close());

/** No worker takes its tasks. */
const hold = (workflowId: string, memo: Record<string, unknown> = {}) =>
  client.workflow.start('forkFanout', { workflowId, taskQueue: 'nobody-takes-these', args: [], memo });

it('the fork of an item is owned while its workflow runs, even if its batch was terminated', async () => {
  const batchId = `batch-${randomUUID().slice(0, 8)}`;
  const batch = await hold(jobWorkflowId(deployment, batchId));
  const item = await hold(itemWorkflowId(deployment, batchId, 7));
  const execution = executionOf(batch.firstExecutionRunId);
  const name = ownedSandboxName({ deployment, jobId: batchId, execution, step: itemStep(7), generation: 1 });
  const other = ownedSandboxName({ deployment, jobId: batchId, execution, step: itemStep(8), generation: 1 });
  const statusOf = async (sandboxName: string) =>
    (await createOwnerReader(client, deployment)({ id: 'bx_1', name: sandboxName })).status;

  expect(await statusOf(name)).toBe('open');
  await batch.terminate();
  expect(await statusOf(name)).toBe('open');
  // Temporal forgets the items of a long batch, and what they kept on purpose, before the batch.
  expect(await statusOf(other)).toBe('unknown');
  await item.terminate();
  expect(await statusOf(name)).toBe('closed');
});

it('a cleanup knows what an earlier execution of an item kept, even if the latest kept nothing', async () => {
  const batchId = `batch-${randomUUID().slice(0, 8)}`;
  const batch = await hold(jobWorkflowId(deployment, batchId));
  const execution = executionOf(batch.firstExecutionRunId);
  const nameOf = (generation: number) =>
    ownedSandboxName({ deployment, jobId: batchId, execution, step: itemStep(3), generation });
  const item = itemWorkflowId(deployment, batchId, 3);
  await (await hold(item, { [endedKey('bx_first')]: { name: nameOf(1), end: 'kept', endedAtMs: 1 } })).terminate();
  await (await hold(item)).terminate();
  await batch.terminate();
  const statusOf = async (id: string, generation: number) =>
    (await createOwnerReader(client, deployment)({ id, name: nameOf(generation) })).status;
  await expect.poll(() => statusOf('bx_first', 1)).toBe('kept');
  expect(await statusOf('bx_second', 2)).toBe('closed');
});
