import { Client, type WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { createEncryptedDataConverter } from '../../../src/encryption/index.js';
import type { JobResult } from '../../../src/protocol/job/job-result.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { progressOf } from '../job-progress.js';
import { letGo, type Stand, script, untilGo } from '../workflow-harness.js';
import { createEncryptedStand, deployment, encryptedJob, ringOf } from './encrypted-harness.js';

const ring = ringOf('one');
let stand: Stand;
/** A client without keys on the same connection. */
let clear: Client;
beforeAll(async () => {
  const dataConverter = createEncryptedDataConverter(ring, { requireEncrypted: true });
  stand = await createEncryptedStand(ring, { worker: { dataConverter } });
  clear = new Client({ connection: stand.client.connection });
});
afterAll(() => stand.close());

async function started(commands: string) {
  const input = encryptedJob({ prompts: [{ prompt: script(commands) }] });
  return startJob(stand.client, input, { taskQueue: stand.taskQueue, results: stand.results });
}

async function running() {
  const { handle } = await started(untilGo);
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  return { handle: handle as WorkflowHandle, strange: clear.workflow.getHandle(handle.workflowId) };
}

describe('workers that require encryption', () => {
  it('refuse a job that was started unencrypted, and create nothing for it', async () => {
    const input = encryptedJob({});
    const handle = await clear.workflow.start('createThenPrompt', {
      workflowId: jobWorkflowId(deployment, input.jobId),
      taskQueue: stand.taskQueue,
      args: [input],
    });
    const mine = stand.client.workflow.getHandle(handle.workflowId);
    await expect(mine.result()).rejects.toMatchObject({ cause: { type: 'not_encrypted' } });
    const { sandboxes } = await stand.api.listSandboxes({});
    expect(sandboxes.filter(({ name }) => name?.includes(input.jobId))).toEqual([]);
  });

  it('refuse unencrypted updates and queries, drop signals, and the job continues', async () => {
    const { handle, strange } = await running();
    const update = strange.executeUpdate('prompt', { args: [{ prompt: script('echo intruder') }] });
    await expect(update).rejects.toThrow();
    await expect(strange.signal('sandboxEvent', { id: 'evt_1', type: 'sandbox.archived' })).resolves.toBeUndefined();
    await strange.signal('skipCollecting');
    await letGo(stand, (await progressOf(handle)).sandboxId);
    const result = (await handle.result()) as JobResult;
    expect(result).toMatchObject({ outcome: 'completed' });
    expect(result.prompts).toHaveLength(1);
  });

  it('accept encrypted input', async () => {
    const { handle } = await started('echo fine');
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });
});
