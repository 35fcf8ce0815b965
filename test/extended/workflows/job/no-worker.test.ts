/** A prompt whose command found no worker. Extended, as it waits half a minute for the command; it costs 2 CPU seconds. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { cli } from '../../../unit/cli/in-process.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { createStand, deployment, letGo, type Stand, script, untilGo } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

it('a prompt that no worker took, and that is repeated with the id in the error, arrives once', async () => {
  const job = await stand.start({ prompts: [{ prompt: script(untilGo) }] });
  await expect.poll(async () => (await progressOf(job)).phase).toBe('following');
  const { jobId, sandboxId } = await progressOf(job);
  const prompt = (...args: readonly string[]) =>
    cli(['jobs', 'prompt', jobId, script('echo more'), '--json', ...args], {
      env: {
        SANDBOX_API_URL: stand.service.url,
        SANDBOX_API_KEY: 'test-key',
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        SANDFLOW_TASK_QUEUE: stand.taskQueue,
        SANDFLOW_DEPLOYMENT: deployment,
      },
    });
  let updateId = '';
  await stand.restartWorker(async () => {
    const { exitCode, stdout } = await prompt();
    const { error } = JSON.parse(stdout);
    expect({ exitCode, code: error.code }).toEqual({ exitCode: 3, code: 'no_worker' });
    [, updateId = ''] = /--update-id (\S+)/.exec(error.message) ?? [];
  });
  const repeated = await prompt('--update-id', updateId);
  expect(JSON.parse(repeated.stdout)).toMatchObject({ jobId, index: 1, error: null });
  await letGo(stand, sandboxId);
  const { prompts } = await job.result();
  expect(prompts.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(stand.service.books.prompts({ sandboxId: sandboxId ?? '' })).toHaveLength(2);
});
