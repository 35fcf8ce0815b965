import { rm } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type createThenPrompt, resolveUpdate } from '../../../workflows/index.js';
import { shareChangedStand } from '../changed-stand.js';
import { refusal } from '../intercept.js';
import { progressOf } from '../job-progress.js';
import { claimAs } from '../watch/lease-harness.js';
import { letGo, script, shortTiming, untilGo } from '../workflow-harness.js';
import { resetToBeginning } from './reset-job.js';

const { stand, change, restore } = shareChangedStand();

/** Holds the answer to the first create until the test has ended. */
function holdFirstCreate(): void {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  onTestFinished(answer);
  let isFirst = true;
  change.createSandbox = async (body, options) => {
    const made = await stand.api.createSandbox(body, options);
    if (isFirst) {
      isFirst = false;
      await answered;
    }
    return made;
  };
}

const madeBy = ({ workflowId }: { readonly workflowId: string }) =>
  stand.service.books.sandboxes().filter(({ name }) => name.startsWith(`${workflowId}-`));

it('a job that is reset to its beginning adopts the sandbox and the prompt of the previous run', async () => {
  const job = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
  await expect.poll(async () => (await progressOf(job)).phase).toBe('following');
  const { sandboxId } = await progressOf(job);
  const again = await resetToBeginning(stand, job);
  await letGo(stand, sandboxId);
  const result = await again.result();
  expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
  expect(result.prompts[0]?.result).toContain('done');
  expect(stand.service.books.sandboxes()).toHaveLength(1);
  expect(stand.service.books.prompts()).toHaveLength(1);
  expect(stand.service.books.stops()).toHaveLength(1);
});

it('does not send the prompt again in a run that continues from the reset one, without a record of it', async () => {
  const timing = { ...shortTiming, safetyPollFirstMs: 200, safetyPollGrowth: 1, safetyPollMaxMs: 200 };
  // A late event would end the wait of the reset run.
  await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
  const job = await stand.start({
    maxHistoryEvents: 60,
    timing,
    prompts: [{ prompt: script(`${untilGo}; echo done`) }],
  });
  await expect.poll(async () => (await progressOf(job)).phase).toBe('following');
  const { sandboxId } = await progressOf(job);
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
  await letGo(stand, sandboxId);
  expect(await last.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }], left: [] });
  const sent = stand.service.books.prompts().filter((prompt) => prompt.sandboxId === sandboxId);
  expect(sent).toHaveLength(1);
});

it('keeps the name that a person gave to the sandbox of the previous run, and leases the sandbox', async () => {
  holdFirstCreate();
  const job = await stand.start({ prompts: [{ prompt: script('echo done') }] });
  await expect.poll(() => madeBy(job)).toHaveLength(1);
  const sandboxId = madeBy(job)[0]?.id ?? '';
  await stand.api.updateSandbox(sandboxId, { name: 'renamed before the search' });
  const again = await resetToBeginning(stand, job);
  await expect.poll(async () => (await claimAs(stand, sandboxId, 'somebody', 1)).leasedBy).toEqual([job.workflowId]);
  await expect.poll(async () => (await progressOf(again)).blocked?.step).toBe('prompt');
  await again.executeUpdate(resolveUpdate, { args: [{ action: 'resend' }] });
  expect(await again.result()).toMatchObject({ outcome: 'completed', sandboxId, left: [] });
  expect((await stand.api.getSandbox(sandboxId)).sandbox.name).toBe('renamed before the search');
});

it('names the sandbox of the previous run if the service refuses the search for it', async () => {
  holdFirstCreate();
  change.listAllSandboxes = () =>
    Promise.reject(refusal('listSandboxes', { status: 403, code: 'forbidden', typed: true }));
  const job = await stand.start({});
  await expect.poll(() => madeBy(job)).toHaveLength(1);
  const result = await (await resetToBeginning(stand, job)).result();
  expect(result).toMatchObject({ outcome: 'rejected', sandboxId: null });
  expect(result.left).toMatchObject([{ kind: 'sandbox', sandboxName: madeBy(job)[0]?.name }]);
});
