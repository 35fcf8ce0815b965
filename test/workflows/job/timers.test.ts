import { NativeConnection } from '@temporalio/worker';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { createSandboxClient } from '../../../src/client/index.js';
import { createSandflowWorker } from '../../../src/worker/index.js';
import { progressQuery, resolveUpdate } from '../../../workflows/index.js';
import { createStand, type Stand, script } from '../workflow-harness.js';

let stand: Stand | undefined;
afterEach(async () => {
  await stand?.close();
  stand = undefined;
});

describe('a job', () => {
  it('S11: keeps its sandbox from stopping by itself while nothing runs in it', async () => {
    stand = await createStand();
    await stand.fault({ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true });
    const handle = await stand.start({ ttlSeconds: 6 });
    const blocked = async () => (await handle.query(progressQuery)).blocked?.reason;
    await expect.poll(blocked, { timeout: 20_000 }).toBe('outcome_unknown');
    const { sandboxId } = await handle.query(progressQuery);
    const created = stand.service.books.sandboxes()[0];
    const after = Date.parse(created?.createdAt ?? '') + 13_000;
    await expect.poll(() => Date.now(), { timeout: 10_000 }).toBeGreaterThan(after);
    expect((await stand.api.getSandbox(sandboxId ?? '')).sandbox.state).toBe('ready');
    await handle.executeUpdate(resolveUpdate, { args: [{ action: 'resend' }] });
    expect((await handle.result()).outcome).toBe('completed');
  });

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
      const message = async () => (await handle.query(progressQuery)).blocked?.message;
      await expect.poll(message, { timeout: 10_000 }).toContain('unauthorized');
      apiKey = 'test-key';
      expect((await handle.result()).outcome).toBe('completed');
    } finally {
      worker.shutdown();
      await running;
      await connection.close();
      await client.close();
    }
  });

  it('continues in another worker within seconds when its own one shuts down', async () => {
    stand = await createStand();
    const handle = await stand.start({ prompts: [{ prompt: script('sleep 4; echo done') }] });
    await expect.poll(async () => (await handle.query(progressQuery)).phase).toBe('following');
    await stand.restartWorker();
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(result.durationMs).toBeLessThan(45_000);
    expect(stand.service.books.prompts()).toHaveLength(1);
  });

  it('shows its progress in the Temporal UI', async () => {
    stand = await createStand();
    const handle = await stand.start({ prompts: [{ prompt: script('sleep 1') }] });
    const details = async () =>
      ((await handle.query('__temporal_workflow_metadata')) as { currentDetails?: string }).currentDetails;
    await expect.poll(details).toMatch(/following.*Sandbox bx_/s);
    await handle.result();
    expect(await details()).toMatch(/ended.*Outcome: completed/s);
  });

  it('U22: shows its outcome and its error in the Temporal UI after its end', async () => {
    stand = await createStand();
    const handle = await stand.start({ prompts: [{ prompt: script('exit 3') }] });
    const { error } = await handle.result();
    const metadata = (await handle.query('__temporal_workflow_metadata')) as { currentDetails?: string };
    expect(metadata.currentDetails).toContain(`Outcome: prompt_failed\n\nError: ${error?.code}: ${error?.message}`);
  });
});
