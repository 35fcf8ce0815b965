/** `sandflow upgrade` in process, with workers of two versions. Gate; costs some 10 CPU seconds. */
import { expect, inject, it } from 'vitest';
import { cli } from '../../unit/cli/in-process.js';
import { deployment, letGo } from '../workflow-harness.js';
import { addWorker, held, openVersioned, promptedSandbox } from './versioned-stand.js';

it('checks a build, lets it take over, and says what stays with the one before and until when', async () => {
  const { stand, become } = await openVersioned();
  await become('v1');
  const env = {
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    SANDBOX_API_URL: stand.service.url,
    SANDBOX_API_KEY: 'test-key',
    SANDFLOW_DEPLOYMENT: deployment,
    SANDFLOW_TASK_QUEUE: stand.taskQueue,
  };
  const run = (...args: string[]) => cli(args, { env });
  const job = await stand.start(held);
  const sandboxId = await promptedSandbox(stand);

  const seen = { stdout: expect.stringContaining('1 running workflow replayed: this build can continue'), stderr: '' };
  await expect.poll(() => run('upgrade', 'check')).toMatchObject({ ...seen, exitCode: 0 });
  expect(await run('upgrade', 'switch', '')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('1.4.2') });

  await addWorker(stand, 'v2');
  expect(await run('upgrade', 'switch', 'v2')).toMatchObject({
    exitCode: 0,
    stdout: 'New jobs start with v2. Those that run stay with their version.\n',
  });
  const { startTime } = await job.describe();
  // The deadline of the job, and fifteen minutes of clean-up.
  const untilAt = new Date(startTime.getTime() + 600_000 + 900_000).toISOString();
  const holder = { workflowId: job.workflowId, type: 'createThenPrompt', untilAt };
  await expect
    .poll(async () => JSON.parse((await run('upgrade', 'drain', '--json')).stdout))
    .toEqual({
      versions: [
        { version: 'v2', isCurrent: true, running: 0, untilAt: null, holders: null },
        { version: 'v1', isCurrent: false, running: 1, untilAt, holders: [holder] },
      ],
      error: null,
    });
  const drain = await run('upgrade', 'drain');
  expect(drain.stdout).toMatch(/^v2 +current +0\s/m);
  expect(drain.stdout).toMatch(/^v1 +draining +1 +\S+Z$/m);
  expect(drain.stdout).toContain(`createThenPrompt ${job.workflowId}: ${untilAt}`);

  await letGo(stand, sandboxId);
  expect((await job.result()).outcome).toBe('completed');
  await expect.poll(async () => (await run('upgrade', 'drain')).stdout).toMatch(/^v1 +not needed +0\s/m);
});
