/** A job with a long history continues as new at every point where it may wait for long. */

import { expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/index.js';
import { promptUpdate, resolveUpdate } from '../../../../workflows/index.js';
import { shareChangedStand } from '../../../workflows/changed-stand.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { letGo, type Stand, script, shortTiming, untilGo } from '../../../workflows/workflow-harness.js';

const { stand, change, restore } = shareChangedStand();

type Handle = Awaited<ReturnType<Stand['start']>>;

/** Runs of the chain, including the last one. */
async function runsOf(handle: Handle): Promise<number> {
  let runs = 0;
  for await (const _ of stand.client.workflow.list({ query: `WorkflowId = '${handle.workflowId}'` })) runs += 1;
  return runs;
}
/** True if the last run is not the first. */
async function hasContinued(handle: Handle): Promise<boolean> {
  const { runId } = await stand.client.workflow.getHandle(handle.workflowId).describe();
  return runId !== handle.firstExecutionRunId;
}
const onlyOne = (sandboxId: string | null) => {
  expect(stand.service.books.prompts().filter((prompt) => prompt.sandboxId === sandboxId)).toHaveLength(1);
};

const timing = { ...shortTiming, safetyPollFirstMs: 200, safetyPollGrowth: 1, safetyPollMaxMs: 200 };

it('a job continues as new while it waits for its sandbox', async () => {
  await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
  // It is not ready before the job has continued.
  change.getSandbox = async (id, options) => {
    const answer = await stand.api.getSandbox(id, options);
    return { ...answer, sandbox: { ...answer.sandbox, state: 'starting' } };
  };
  const handle = await stand.start({ maxHistoryEvents: 20, timing });
  await expect.poll(() => hasContinued(handle)).toBe(true);
  restore();
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'completed', left: [] });
  onlyOne(result.sandboxId);
  expect(await hasContinued(handle)).toBe(true);
});

it('a job continues as new between follow-ups, and keeps those that it has', async () => {
  const handle = await stand.start({ maxHistoryEvents: 25, prompts: [{ prompt: script(untilGo) }], timing });
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  for (const at of [1, 2, 3]) {
    await handle.executeUpdate(promptUpdate, { args: [{ prompt: script(`echo ${at}`) }], updateId: `u${at}` });
  }
  await letGo(stand, (await progressOf(handle)).sandboxId);
  const result = await handle.result();
  expect(result.prompts.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
  expect(stand.service.books.prompts().filter(({ sandboxId }) => sandboxId === result.sandboxId)).toHaveLength(4);
  expect(await hasContinued(handle)).toBe(true);
});

it('a job continues as new while it waits for a person, and receives the decision', async () => {
  change.sendPrompt = () => {
    const fields = { endpoint: 'sendPrompt', status: 502, code: 'http_502', meaning: 'unavailable' } as const;
    return Promise.reject(
      new ApiError('a page', { ...fields, typed: false, requestId: null, retryAfterMs: null, details: null }),
    );
  };
  const handle = await stand.start({ maxHistoryEvents: 40, timing });
  await expect.poll(() => runsOf(handle)).toBeGreaterThan(2);
  restore();
  await expect
    .poll(() =>
      handle.executeUpdate(resolveUpdate, { args: [{ action: 'resend' }] }).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'completed', left: [] });
  onlyOne(result.sandboxId);
});

it('while a person decides: each decision is used or refused, and none is lost', async () => {
  change.sendPrompt = () => {
    const fields = { endpoint: 'sendPrompt', status: 502, code: 'http_502', meaning: 'unavailable' } as const;
    return Promise.reject(
      new ApiError('a page', { ...fields, typed: false, requestId: null, retryAfterMs: null, details: null }),
    );
  };
  const jobs = await Promise.all(Array.from({ length: 8 }, () => stand.start({ maxHistoryEvents: 40, timing })));
  await Promise.all(jobs.map((job) => expect.poll(() => runsOf(job)).toBeGreaterThan(1)));
  restore();
  const decide = async (job: Handle) => {
    for (;;) {
      const args = [{ action: 'resend' }] as const;
      const refusal = await job.executeUpdate(resolveUpdate, { args: [...args] }).then(() => null, String);
      if (refusal === null) return;
      expect(refusal).toMatch(/WorkflowUpdateFailedError/);
    }
  };
  await Promise.all(jobs.map(decide));
  for (const result of await Promise.all(jobs.map((job) => job.result()))) {
    expect(result).toMatchObject({ outcome: 'completed', left: [] });
    onlyOne(result.sandboxId);
  }
});
