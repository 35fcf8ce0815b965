import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionOf, jobWorkflowId, ownedSandboxName } from '../../../src/addresses/addresses.js';
import { unencryptedBundle } from '../../../src/worker/index.js';
import type { waitArchived } from '../../workflows/own/wait-archived.js';
import { createStand, deployment, type Stand } from '../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('../../workflows/own/wait-archived.ts', import.meta.url));
  const workflowBundle = await bundleWorkflowCode({
    ...unencryptedBundle,
    workflowsPath,
    logger: new DefaultLogger('WARN'),
  });
  stand = await createStand({ worker: { workflowBundle } });
});
afterAll(() => stand.close());

it('a webhook wakes a user’s workflow by the name that it gave its sandbox', async () => {
  const execution = executionOf('0197f8aa-0000-7000-8000-0123456789ab');
  const name = ownedSandboxName({ deployment, jobId: 'own', execution, step: 'main', generation: 1 });
  const { sandbox } = await stand.api.createSandbox({ name });
  await expect.poll(async () => (await stand.api.getSandbox(sandbox.id)).sandbox.state).toBe('ready');
  const handle = await stand.client.workflow.start<typeof waitArchived>('waitArchived', {
    workflowId: jobWorkflowId(deployment, 'own'),
    taskQueue: stand.taskQueue,
    args: [sandbox.id],
  });
  await stand.api.stopSandbox(sandbox.id);
  const { state, wakes } = await handle.result();
  expect(state).toBe('archived');
  // It may have been archived before the first read, which then needed no wake.
  expect(wakes.every(({ by }) => by === 'webhook')).toBe(true);
});
