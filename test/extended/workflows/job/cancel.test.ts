/**
 * A cancelled job interrupts its own prompt, again while it runs, and no prompt of others; it ends although reads hang or
 * calls fail, and keeps its transcript. Extended: `test/workflows/job/cancel.test.ts` has the promise.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobTranscripts } from '../../../../src/addresses/transcript-places.js';
import { ConnectionError } from '../../../../src/client/index.js';
import type { StoredTranscript } from '../../../../src/result-store/stored-transcript.js';
import { shareChangedStand } from '../../../workflows/changed-stand.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { refusal } from '../../../workflows/played-service.js';
import { createStand, type Stand, script, shortTiming } from '../../../workflows/workflow-harness.js';

const { stand, change } = shareChangedStand();

const long = [{ prompt: script('sleep 600') }];

const promptOfSomebodyElse = async (sandboxId: string, conversationId: string | undefined) =>
  (await stand.api.sendPrompt(sandboxId, { prompt: script('sleep 600'), conversationId })).promptId;

async function expectAtWork(sandboxId: string | null, promptId: string | null | undefined): Promise<void> {
  const { prompt } = await stand.api.getPrompt(sandboxId ?? '', promptId ?? '');
  expect(['queued', 'running']).toContain(prompt.status);
}

describe('an interrupt', () => {
  const kept = { prompts: long, end: 'keep', timing: { ...shortTiming, cleanUpMs: 120_000 } } as const;
  const cancelled = async (handle: Awaited<ReturnType<Stand['start']>>) => {
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
    await handle.cancel();
    return handle.result();
  };

  it('that is refused is repeated, and the prompt is interrupted when the result says so', async () => {
    let refused = 0;
    change.interruptSandbox = (id, query, options) => {
      refused += 1;
      if (refused <= 2) return Promise.reject(refusal('interruptSandbox', 429, 'rate_limited'));
      return stand.api.interruptSandbox(id, query, options);
    };
    const result = await cancelled(await stand.start(kept));
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }], left: [] });
    const { prompt } = await stand.api.getPrompt(result.sandboxId ?? '', result.prompts[0]?.promptId ?? '');
    expect(prompt.status).toBe('interrupted');
  });

  it('that is never accepted leaves a working agent, which is named', async () => {
    change.interruptSandbox = () => Promise.reject(refusal('interruptSandbox', 429, 'rate_limited'));
    const result = await cancelled(await stand.start({ ...kept, timing: { ...shortTiming, cleanUpMs: 8_000 } }));
    expect(result.outcome).toBe('cancelled');
    expect(result.prompts[0]?.status).not.toBe('interrupted');
    expect(result.left).toMatchObject([{ kind: 'prompt', sandboxId: result.sandboxId }]);
  });

  it('that has no effect is repeated while a read shows the prompt running', async () => {
    let sent = 0;
    change.interruptSandbox = async (...args) => {
      sent += 1;
      return sent === 1 ? { ok: true, interrupted: 0 } : stand.api.interruptSandbox(...args);
    };
    const result = await cancelled(await stand.start(kept));
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }], left: [] });
    expect(sent).toBe(2);
  });

  it('is not repeated for the prompt of somebody else in the same conversation', async () => {
    const conversations: unknown[] = [];
    let othersId: string | null | undefined;
    change.interruptSandbox = async (id, query, options) => {
      conversations.push(query?.conversation);
      const answer = await stand.api.interruptSandbox(id, query, options);
      othersId = await promptOfSomebodyElse(id, query?.conversation);
      return answer;
    };
    const result = await cancelled(await stand.start(kept));
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }], left: [] });
    expect(conversations).toEqual([result.prompts[0]?.conversationId]);
    await expectAtWork(result.sandboxId, othersId);
  });

  it('is not repeated while no read shows the prompt running', async () => {
    let sent = 0;
    let othersId: string | null | undefined;
    change.interruptSandbox = async (id, query, options) => {
      sent += 1;
      if (sent > 1) return stand.api.interruptSandbox(id, query, options);
      change.getPrompt = () => Promise.reject(new ConnectionError('getPrompt', true, 'UND_ERR_SOCKET'));
      const answer = await stand.api.interruptSandbox(id, query, options);
      othersId = await promptOfSomebodyElse(id, query?.conversation);
      return answer;
    };
    const handle = await stand.start(kept);
    const ending = cancelled(handle);
    // The second interrupt reads the prompt first, and is tried again.
    const tries = async () => {
      const { pendingActivities } = (await handle.describe()).raw;
      const isInterrupt = ({ activityType }: { activityType?: { name?: string | null } | null }) =>
        activityType?.name === 'interruptSandbox';
      return pendingActivities?.find(isInterrupt)?.attempt ?? 0;
    };
    await expect.poll(async () => sent === 1 && (await tries()) > 1).toBe(true);
    delete change.getPrompt;
    const result = await ending;
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }], left: [] });
    expect(sent).toBe(1);
    await expectAtWork(result.sandboxId, othersId);
  });
});

describe('a job that is cancelled', () => {
  let slow: Stand;
  beforeAll(async () => {
    // The job does not learn the ids of its prompts while they run.
    slow = await createStand({ worker: { follow: { minIntervalMs: 100, briefFollowMs: 30_000 } } });
  });
  afterAll(() => slow.close());

  const promptsOf = (sandboxId: string | null) => slow.service.books.prompts({ sandboxId: sandboxId ?? '' });

  it('before it knows the ids of its prompt learns them, and interrupts the prompt', async () => {
    const job = await slow.start({ prompts: long, end: 'keep' });
    const sandboxId = async () => (await progressOf(job)).sandboxId;
    await expect.poll(async () => promptsOf(await sandboxId()).length).toBe(1);
    expect((await progressOf(job)).phase).toBe('prompting');
    await job.cancel();
    const result = await job.result();
    const [prompt] = promptsOf(result.sandboxId);
    expect(prompt?.status).toBe('interrupted');
    expect(result).toMatchObject({
      outcome: 'cancelled',
      prompts: [{ status: 'interrupted', promptId: prompt?.id }],
    });
    expect(result.left.map(({ kind }) => kind)).not.toContain('prompt');
    await slow.api.stopSandbox(result.sandboxId ?? '');
  });

  it('while no worker follows its prompt finds the ids in the record of the prompt, and interrupts it', async () => {
    const job = await slow.start({ prompts: long, end: 'keep' });
    const sandboxId = async () => (await progressOf(job)).sandboxId;
    await expect.poll(async () => promptsOf(await sandboxId()).length).toBe(1);
    await slow.restartWorker(() => job.cancel());
    const result = await job.result();
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }] });
    expect(promptsOf(result.sandboxId)).toMatchObject([{ status: 'interrupted' }]);
    await slow.api.stopSandbox(result.sandboxId ?? '');
  });
});

it('after a cancel, a prompt that no attempt could send is known by its record, and nothing is left', async () => {
  let attempts = 0;
  change.sendPrompt = () => {
    attempts += 1;
    return Promise.reject(new ConnectionError('sendPrompt', false, 'ECONNREFUSED'));
  };
  const handle = await stand.start({ end: 'keep' });
  await expect.poll(() => attempts).toBeGreaterThan(1);
  await handle.cancel();
  expect(await handle.result()).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'not_sent' }], left: [] });
});

it('the transcript of a cancelled job is stored', async () => {
  const handle = await stand.start({ prompts: [{ prompt: script('sleep 600') }], end: 'delete' });
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  await handle.cancel();
  expect((await handle.result()).outcome).toBe('cancelled');
  const [stored] = await stand.results.list(jobTranscripts(handle.workflowId, handle.firstExecutionRunId));
  const content = await stand.results.get(stored?.ref ?? '');
  const transcript: StoredTranscript = JSON.parse(content.toString('utf8'));
  expect(transcript.events.at(-1)?.type).toBe('prompt.interrupted');
});

it('a cancelled job ends even if the reads of its stop hang', async () => {
  const handle = await stand.start({
    prompts: [{ prompt: script('sleep 600') }],
    timing: { ...shortTiming, cleanUpMs: 2_000 },
  });
  await expect.poll(async () => (await handle.query<{ phase: string }>('progress')).phase).toBe('following');
  const hung = { kind: 'latency', ms: 600_000, times: 1_000 } as const;
  await stand.fault({ ...hung, endpoint: 'getSandbox' });
  await stand.fault({ ...hung, endpoint: 'getStop' });
  await handle.cancel();
  expect(await handle.result()).toMatchObject({ outcome: 'cancelled' });
});
