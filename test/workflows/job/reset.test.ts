import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { type createThenPrompt, progressQuery } from '../../../workflows/index.js';
import { shareChangedStand } from '../changed-stand.js';
import { refusal } from '../intercept.js';
import { script, shortTiming } from '../workflow-harness.js';
import { resetToBeginning } from './reset-job.js';

const { stand, change, restore } = shareChangedStand();

it('a job that is reset to its beginning adopts the sandbox and the prompt of the previous run', async () => {
  const job = await stand.start({ prompts: [{ prompt: script('sleep 2; echo done') }] });
  await expect.poll(async () => (await job.query(progressQuery)).phase).toBe('following');
  const result = await (await resetToBeginning(stand, job)).result();
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
  const again = await resetToBeginning(stand, job);
  const { workflowId } = again;
  const last = stand.client.workflow.getHandle<typeof createThenPrompt>(workflowId);
  await expect.poll(async () => (await last.describe()).runId).not.toBe((await again.describe()).runId);
  restore();
  expect(await last.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }], left: [] });
  const sent = stand.service.books.prompts().filter((prompt) => prompt.sandboxId === sandboxId);
  expect(sent).toHaveLength(1);
});

it('names the sandbox of the previous run if the service refuses the search for it', async () => {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  change.createSandbox = async (body, options) => {
    const made = await stand.api.createSandbox(body, options);
    await answered;
    return made;
  };
  change.listAllSandboxes = () =>
    Promise.reject(refusal('listSandboxes', { status: 403, code: 'forbidden', typed: true }));
  const job = await stand.start({});
  const made = () => stand.service.books.sandboxes().filter(({ name }) => name.startsWith(`${job.workflowId}-`));
  await expect.poll(made).toHaveLength(1);
  const result = await (await resetToBeginning(stand, job)).result();
  answer();
  expect(result).toMatchObject({ outcome: 'rejected', sandboxId: null });
  expect(result.left).toMatchObject([{ kind: 'sandbox', sandboxName: made()[0]?.name }]);
});
