/** Tests the activity that sends a prompt and follows it: what the job knows of the prompt, and when. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConnectionError, type SandboxClient } from '../../../../../src/client/index.js';
import type { ResultStore } from '../../../../../src/result-store/index.js';
import { changedBy } from '../../../../workflows/changed-stand.js';
import { progressOf } from '../../../../workflows/job-progress.js';
import { readySandbox } from '../../../../workflows/stop/stop-harness.js';
import { createStand, letGo, type Stand, script, untilGo } from '../../../../workflows/workflow-harness.js';

let stand: Stand;
const change: Partial<SandboxClient> = {};
/** The writes of records that are still to fail, and what the newest record says. */
const records = { failing: 0, phase: 'none' };
/** The stand's result store. Some of its writes fail. */
const failing = (store: ResultStore): ResultStore => ({
  ...store,
  async put(key, content) {
    const isRecord = key.endsWith('/record.json');
    if (isRecord && records.failing > 0) {
      records.failing -= 1;
      throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' });
    }
    const stored = await store.put(key, content);
    if (isRecord) records.phase = JSON.parse(Buffer.from(content).toString('utf8')).phase;
    return stored;
  },
});
beforeAll(async () => {
  // The job does not learn the ids of its prompts while they run.
  stand = await createStand({
    through: changedBy(() => change),
    results: failing,
    worker: { follow: { minIntervalMs: 100, briefFollowMs: 30_000 } },
  });
});
afterEach(() => {
  for (const name of Object.keys(change)) delete change[name as keyof SandboxClient];
});
afterAll(() => stand.close());

const promptsOf = (sandboxId: string | null | undefined) => stand.service.books.prompts({ sandboxId: sandboxId ?? '' });

describe('a prompt', () => {
  it('whose follow fails at once is known to the job', async () => {
    change.listAllSandboxes = async () => [];
    change.getPrompt = async () => Promise.reject(new ConnectionError('getPrompt', false, 'ECONNREFUSED'));
    const job = await stand.start({ prompts: [{ prompt: script('echo done') }] });
    await expect.poll(async () => (await progressOf(job)).phase).toBe('following');
    delete change.listAllSandboxes;
    delete change.getPrompt;
    expect(await job.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
  });

  it('is sent by another worker if the first one shuts down before it sends it', async () => {
    const sandboxId = await readySandbox(stand);
    let hangs = true;
    let isAsked = false;
    change.listEvents = (...args) => {
      const [, , { signal } = {}] = args;
      if (!hangs) return stand.api.listEvents(...args);
      isAsked = true;
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    };
    const job = await stand.start({ source: { kind: 'existing', sandboxId } });
    await expect.poll(() => isAsked).toBe(true);
    await stand.restartWorker(async () => {
      hangs = false;
    });
    expect(await job.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(promptsOf(sandboxId)).toHaveLength(1);
  });

  it('is sent only when its record is stored, although its intent is recorded before', async () => {
    Object.assign(records, { failing: 1, phase: 'none' });
    let before = '';
    change.sendPrompt = (...args) => {
      before = records.phase;
      return stand.api.sendPrompt(...args);
    };
    const result = await (await stand.start({})).result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(records.failing).toBe(0);
    expect(before).toBe('sending');
    expect(promptsOf(result.sandboxId)).toHaveLength(1);
  });

  it('is followed by another worker if the first one shuts down after it sent it', async () => {
    const job = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
    const sandboxId = async () => (await progressOf(job)).sandboxId;
    await expect.poll(async () => promptsOf(await sandboxId()).length).toBe(1);
    const id = await sandboxId();
    await stand.restartWorker();
    await letGo(stand, id);
    const result = await job.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(promptsOf(result.sandboxId)).toHaveLength(1);
  });

  it('that was accepted is followed again, and not sent again, after a refusal that only a person can mend', async () => {
    const refusals = [401, 401];
    change.getPrompt = async (...args) => {
      const status = refusals.pop();
      if (status !== undefined)
        await stand.fault({ kind: 'error', endpoint: 'getPrompt', status, code: 'unauthorized' });
      return stand.api.getPrompt(...args);
    };
    const result = await (await stand.start({})).result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(promptsOf(result.sandboxId)).toHaveLength(1);
  });
});

it('a job knows the ids of a prompt that takes longer than a moment', async () => {
  const telling = await createStand();
  try {
    const job = await telling.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
    await expect
      .poll(async () => (await progressOf(job)).prompts)
      .toMatchObject([{ status: 'queued', promptId: expect.any(String), conversationId: expect.any(String) }]);
    expect((await progressOf(job)).phase).toBe('following');
    await letGo(telling, (await progressOf(job)).sandboxId);
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
  } finally {
    await telling.close();
  }
});

it('prompts that are followed leave a quarter of the activities to others', async () => {
  const crowded = await createStand({
    worker: { maxConcurrentActivityTaskExecutions: 4, follow: { minIntervalMs: 100, briefFollowMs: 30_000 } },
  });
  try {
    const long = await Promise.all(
      Array.from({ length: 3 }, () => crowded.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] })),
    );
    const phases = () => Promise.all(long.map(async (job) => (await progressOf(job)).phase));
    await expect.poll(() => crowded.service.books.prompts()).toHaveLength(3);
    const fourth = await crowded.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
    await expect.poll(async () => (await progressOf(fourth)).phase).toBe('following');
    expect(await (await crowded.start({})).result()).toMatchObject({ outcome: 'completed' });
    expect(await phases()).toEqual(['prompting', 'prompting', 'prompting']);
    for (const job of [...long, fourth]) {
      await letGo(crowded, (await progressOf(job)).sandboxId);
      expect(await job.result()).toMatchObject({ outcome: 'completed' });
    }
  } finally {
    await crowded.close();
  }
});
