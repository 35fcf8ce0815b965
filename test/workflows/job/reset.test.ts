import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { expect, it } from 'vitest';
import { type createThenPrompt, progressQuery } from '../../../workflows/index.js';
import { shareChangedStand } from '../changed-stand.js';
import { script, shortTiming } from '../workflow-harness.js';

const { stand, change, restore } = shareChangedStand();

type Job = WorkflowHandle<typeof createThenPrompt>;

/** Resets a job to the beginning of its current run. @returns the next run */
async function reset(job: Job): Promise<Job> {
  const { events } = await job.fetchHistory();
  const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await stand.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: job.workflowId },
    workflowTaskFinishEventId: firstTask?.eventId,
    reason: 'test',
    requestId: randomUUID(),
  });
  return stand.client.workflow.getHandle<typeof createThenPrompt>(job.workflowId, runId);
}

it('a job that is reset to its beginning adopts the sandbox and the prompt of the previous run', async () => {
  const job = await stand.start({ prompts: [{ prompt: script('sleep 2; echo done') }] });
  await expect.poll(async () => (await job.query(progressQuery)).phase).toBe('following');
  const result = await (await reset(job)).result();
  expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
  expect(result.prompts[0]?.result).toContain('done');
  expect(stand.service.books.sandboxes()).toHaveLength(1);
  expect(stand.service.books.prompts()).toHaveLength(1);
  expect(stand.service.books.stops()).toHaveLength(1);
});

it('does not send the prompt again in a run that continues from the reset one, without a record of it', async () => {
  const timing = { ...shortTiming, safetyPollFirstMs: 200, safetyPollGrowth: 1, safetyPollMaxMs: 200 };
  const job = await stand.start({ maxHistoryEvents: 60, timing, prompts: [{ prompt: script('sleep 4; echo done') }] });
  await expect.poll(async () => (await job.query(progressQuery)).phase).toBe('following');
  const { sandboxId } = await job.query(progressQuery);
  expect((await job.describe()).runId, 'the run that is reset').toBe(job.firstExecutionRunId);
  await rm(stand.resultsDirectory, { recursive: true });
  // The reset run waits for its sandbox until its history is long.
  change.getSandbox = async (id, options) => {
    const answer = await stand.api.getSandbox(id, options);
    return { ...answer, sandbox: { ...answer.sandbox, state: 'starting' } };
  };
  const again = await reset(job);
  const { workflowId } = again;
  const last = stand.client.workflow.getHandle<typeof createThenPrompt>(workflowId);
  await expect.poll(async () => (await last.describe()).runId).not.toBe((await again.describe()).runId);
  restore();
  expect(await last.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }], left: [] });
  const sent = stand.service.books.prompts().filter((prompt) => prompt.sandboxId === sandboxId);
  expect(sent).toHaveLength(1);
});
