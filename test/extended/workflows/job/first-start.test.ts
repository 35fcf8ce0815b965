/** When a job began, if its run was reset: Temporal gives that run a new start. */

import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { startJob } from '../../../../src/workflow-client/jobs/job-client.js';
import { listJobs } from '../../../../src/workflow-client/list-executions.js';
import type { createThenPrompt } from '../../../../workflows/index.js';
import { shareChangedStand } from '../../../workflows/changed-stand.js';
import { resetToBeginning } from '../../../workflows/job/reset-job.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { jobInput, letGo, script, untilGo } from '../../../workflows/workflow-harness.js';

const { stand } = shareChangedStand();

it.each([
  ['at once', {}],
  ['and then continued as new', { maxHistoryEvents: 40 }],
])('a job that is reset keeps its first start: %s', async (_, over) => {
  const deployment = `r${randomBytes(5).toString('hex')}`;
  const prompts = [untilGo, 'true', 'true', 'true'].map((command) => ({ prompt: script(command) }));
  const { handle } = await startJob(stand.client, jobInput({ deployment, prompts, ...over }), stand);
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  const { startTime: first } = await handle.describe();
  const { sandboxId } = await progressOf(handle);

  const job = stand.client.workflow.getHandle<typeof createThenPrompt>(handle.workflowId);
  const reset = await resetToBeginning(stand, job);
  expect((await reset.describe()).startTime.getTime()).toBeGreaterThan(first.getTime());
  await letGo(stand, sandboxId);
  const { durationMs } = await job.result();
  const sent = (await reset.fetchHistory()).events?.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name === 'createSandbox' ? (scheduled.input?.payloads ?? []) : [],
  );
  const [call] = (sent ?? []).map(({ data }) => JSON.parse(Buffer.from(data ?? []).toString()) as object);
  expect(call, 'the search for what the earlier run has created').toMatchObject({ firstSentAtMs: first.getTime() });
  const { times } = await progressOf(job);
  expect(times?.startedAt).toBe(first.toISOString());
  expect(durationMs).toBeGreaterThanOrEqual(Date.parse(times?.endedAt ?? '') - first.getTime());
  const listed = async () => (await listJobs(stand.client, { deployment })).map(({ startedAt }) => startedAt);
  await expect.poll(listed).toEqual([first.toISOString()]);
});
