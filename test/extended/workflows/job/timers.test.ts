import { NativeConnection } from '@temporalio/worker';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { createSandboxClient } from '../../../../src/client/index.js';
import { createSandflowWorker } from '../../../../src/worker/index.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { createStand, letGo, type Stand, script, untilGo } from '../../../workflows/workflow-harness.js';

let stand: Stand | undefined;
afterEach(async () => {
  await stand?.close();
  stand = undefined;
});

describe('a job', () => {
  it('waits visibly while the key is refused, reads it again, and continues', async () => {
    stand = await createStand();
    let apiKey = 'revoked';
    const client = createSandboxClient({ baseUrl: stand.service.url, apiKey: () => apiKey });
    const taskQueue = `${stand.taskQueue}-other-key`;
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    const workflowBundle = { codePath: inject('workflowBundlePath') };
    const worker = await createSandflowWorker({
      connection,
      client,
      results: stand.results,
      taskQueue,
      workflowBundle,
    });
    const running = worker.run();
    try {
      const handle = await stand.start({}, { taskQueue });
      const message = async () => (await progressOf(handle)).blocked?.message;
      await expect.poll(message).toContain('unauthorized');
      apiKey = 'test-key';
      expect((await handle.result()).outcome).toBe('completed');
    } finally {
      worker.shutdown();
      await running;
      await connection.close();
      await client.close();
    }
  });

  it('continues in another worker when its own one shuts down, which gives it back at once', async () => {
    stand = await createStand();
    const handle = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
    const follow = async () => {
      const { pendingActivities } = (await handle.describe()).raw;
      return pendingActivities?.find(({ activityType }) => activityType?.name === 'followPrompt');
    };
    // A follow that is only on its way to the worker is not followed yet. Its first heartbeat shows that it is.
    await expect.poll(async () => (await follow())?.lastHeartbeatTime).toBeTruthy();
    await stand.restartWorker(async () => {
      // The worker has given the follow back: it is not awaited until its heartbeats are missed.
      const given = await follow();
      expect(given?.attempt).toBeGreaterThan(1);
      expect(given?.lastFailure?.timeoutFailureInfo ?? null).toBeNull();
    });
    await letGo(stand, (await progressOf(handle)).sandboxId);
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(stand.service.books.prompts()).toHaveLength(1);
  });

  it('shows its progress in the Temporal UI', async () => {
    stand = await createStand();
    const handle = await stand.start({ prompts: [{ prompt: script(untilGo) }] });
    const details = async () =>
      ((await handle.query('__temporal_workflow_metadata')) as { currentDetails?: string }).currentDetails;
    await expect.poll(details).toMatch(/following.*Sandbox bx_/s);
    await letGo(stand, (await progressOf(handle)).sandboxId);
    await handle.result();
    await expect.poll(details).toMatch(/ended.*Outcome: completed/s);
  });

  it('shows its outcome and its error in the Temporal UI after its end', async () => {
    stand = await createStand();
    const handle = await stand.start({ prompts: [{ prompt: script('exit 3') }] });
    const { error } = await handle.result();
    const metadata = (await handle.query('__temporal_workflow_metadata')) as { currentDetails?: string };
    expect(metadata.currentDetails).toContain(`Outcome: prompt_failed\n\nError: ${error?.code}: ${error?.message}`);
  });
});
