/** A job with a long history continues as new at every point where it may wait for long. */

import { expect, it, vi } from 'vitest';
import { ApiError } from '../../../src/client/index.js';
import { promptJob, resolveJob } from '../../../src/workflow-client/jobs/job-client.js';
import { sandboxEventSignal } from '../../../workflows/index.js';
import { shareChangedStand } from '../changed-stand.js';
import { progressOf } from '../job-progress.js';
import { deployment, letGo, patient, type Stand, script, shortTiming, untilGo } from '../workflow-harness.js';

const { stand, change } = shareChangedStand();

type Handle = Awaited<ReturnType<Stand['start']>>;

/** True if the last run is not the first. */
async function hasContinued(handle: Handle): Promise<boolean> {
  const { runId } = await stand.client.workflow.getHandle(handle.workflowId).describe();
  return runId !== handle.firstExecutionRunId;
}
const onlyOne = (sandboxId: string | null) => {
  expect(stand.service.books.prompts().filter((prompt) => prompt.sandboxId === sandboxId)).toHaveLength(1);
};

/** Each event that a job receives while its prompts run adds to its history. */
async function signalUntilContinued(handle: Handle): Promise<void> {
  const { sandboxId } = await progressOf(handle);
  const event = { type: 'sandbox.ready', sandboxId: sandboxId ?? '', sandboxName: '' } as const;
  for (let sent = 0; !(await hasContinued(handle)); sent += 1) {
    await handle.signal(sandboxEventSignal, { ...event, id: `event-${sent}`, createdAt: new Date().toISOString() });
  }
}

const timing = { ...shortTiming, safetyPollFirstMs: 200, safetyPollGrowth: 1, safetyPollMaxMs: 200 };

it('a job continues as new while the service refuses its create, creates one sandbox, and counts all calls', async () => {
  let refused = 0;
  change.createSandbox = (body, options) => {
    refused += 1;
    if (refused > 4) return stand.api.createSandbox(body, options);
    const fields = {
      endpoint: 'createSandbox',
      status: 429,
      code: 'rate_limited',
      meaning: 'throttled_shortly',
    } as const;
    const error = new ApiError('slow down', {
      ...fields,
      typed: true,
      requestId: null,
      retryAfterMs: 200,
      details: null,
    });
    return Promise.reject(error);
  };
  const before = stand.service.books.sandboxes().length;
  const callsBefore = stand.service.books.calls().length;
  const handle = await stand.start({ maxHistoryEvents: 12, timing });
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'completed', sandboxName: expect.stringMatching(/-main-1$/), left: [] });
  expect(stand.service.books.sandboxes().length - before).toBe(1);
  onlyOne(result.sandboxId);
  expect(await hasContinued(handle)).toBe(true);
  // All follows of jobs share the list. The refused creates did not reach the service.
  const calls = stand.service.books.calls().slice(callsBefore);
  const own = calls.filter(({ endpoint }) => endpoint !== 'listSandboxes');
  expect(result.apiCalls).toBe(own.length + refused - 1);
});

it('a job continues as new while its prompts run side by side, sends each once, and repeats no finished step', async () => {
  const handle = await stand.start({
    maxHistoryEvents: 60,
    put: [{ path: 'a.txt', content: { base64: Buffer.from('a').toString('base64') } }],
    commands: ['echo ran >> ran.txt'],
    prompts: [{ prompt: script(`${untilGo}; cat a.txt`) }, { prompt: script(`${untilGo}; echo b`) }],
    conversations: 'each',
    collect: ['ran.txt'],
    timing,
  });
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  await signalUntilContinued(handle);
  await letGo(stand, (await progressOf(handle)).sandboxId);
  const result = await handle.result();
  expect(result).toMatchObject({
    outcome: 'completed',
    prompts: [{ status: 'completed' }, { status: 'completed' }],
    files: [{ path: 'ran.txt', size: 4, error: null }],
    left: [],
  });
  expect(stand.service.books.prompts().filter(({ sandboxId }) => sandboxId === result.sandboxId)).toHaveLength(2);
  expect(await hasContinued(handle)).toBe(true);
});

it('a job that continued as new can be cancelled', async () => {
  const handle = await stand.start({
    maxHistoryEvents: 30,
    prompts: [{ prompt: script('sleep 600') }],
    timing,
  });
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  await signalUntilContinued(handle);
  await handle.cancel();
  expect(await handle.result()).toMatchObject({
    outcome: 'cancelled',
    prompts: [{ status: 'interrupted' }],
    stop: { status: 'completed' },
    left: [],
  });
});

it('a request that is repeated after the job continued as new is done once, and answered as before', async () => {
  await stand.fault({ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true });
  const handle = await stand.start({ maxHistoryEvents: 60, prompts: [{ prompt: script(untilGo) }], timing });
  await expect.poll(async () => (await progressOf(handle)).blocked?.reason).toBe('outcome_unknown');
  const job = { deployment, jobId: (await progressOf(handle)).jobId };
  const ask = async () => [
    await resolveJob(stand.client, job, { action: 'resend' }, { updateId: 'decision' }),
    await promptJob(stand.client, job, { prompt: script('echo more') }, { updateId: 'more' }),
  ];
  // On a busy machine, its reads may fill the history first: while the job goes on as new, it waits for nobody.
  const answers = await vi.waitFor(ask, patient);
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  await signalUntilContinued(handle);
  expect(await ask()).toEqual(answers);
  await letGo(stand, (await progressOf(handle)).sandboxId);
  const { prompts, sandboxId } = await handle.result();
  expect(prompts.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(stand.service.books.prompts({ sandboxId: sandboxId ?? '' })).toHaveLength(2);
});
