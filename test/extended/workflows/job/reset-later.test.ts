/** Jobs that are reset to a later workflow task: their new run replays what the earlier one did before. */
import { expect, it } from 'vitest';
import { listJobs } from '../../../../src/workflow-client/list-executions.js';
import { shareChangedStand } from '../../../workflows/changed-stand.js';
import { resetToLastTask } from '../../../workflows/job/reset-job.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { letGo, script, untilGo } from '../../../workflows/workflow-harness.js';

const { stand } = shareChangedStand();

it.each([
  ['first', [untilGo]],
  ['second', ['true', untilGo]],
])('a job that is reset while its %s prompt runs follows it, and keeps its first start', async (_, commands) => {
  const deployment = `later${commands.length}`;
  const prompts = commands.map((command) => ({ prompt: script(command) }));
  const job = await stand.start({ deployment, prompts });
  const statuses = async () => (await progressOf(job)).prompts.map(({ status }) => status);
  await expect.poll(async () => (await statuses()).at(-1)).toBe('queued');
  const { startTime: first } = await job.describe();
  const { sandboxId } = await progressOf(job);
  const again = await resetToLastTask(stand, job);
  expect((await progressOf(again)).phase).toBe('following');
  // Another worker replays the run that was reset.
  await stand.restartWorker();
  await letGo(stand, sandboxId);
  expect(await again.result()).toMatchObject({
    outcome: 'completed',
    sandboxId,
    prompts: prompts.map(() => ({ status: 'completed' })),
    left: [],
  });
  expect(stand.service.books.prompts({ sandboxId: sandboxId ?? '' })).toHaveLength(prompts.length);
  const listed = async () => (await listJobs(stand.client, { deployment })).map(({ startedAt }) => startedAt);
  await expect.poll(listed).toEqual([first.toISOString()]);
});
