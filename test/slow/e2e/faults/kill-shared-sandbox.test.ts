/** The worker is killed with SIGKILL while two jobs work in one sandbox that neither has created. */

import { describe, expect, it, vi } from 'vitest';
import type { JobInput } from '../../../../src/protocol/job/job-input.js';
import { resolveUpdate } from '../../../../src/protocol/messages.js';
import { shareKillStand } from '../../../e2e/faults/killed-worker.js';
import { patient, readBooks, shell } from '../../../e2e/stack/fixture.js';
import { readySandbox } from '../../../e2e/stack/fixture-sandbox.js';
import { progressOf } from '../../../workflows/job-progress.js';

const stand = shareKillStand();

/** For a policy that otherwise waits over a minute for evidence. */
const timing = { safetyPollFirstMs: 200, safetyPollGrowth: 1, safetyPollMaxMs: 200 };
const until = (file: string) => `while [ ! -e ${file} ]; do sleep 0.1; done`;
const create = (sandboxId: string, path: string) =>
  stand.api.writeFile(sandboxId, { path, content: '', encoding: 'utf8' });
const booksOfSandbox = async (sandboxId: string) => {
  const { prompts, stops } = await readBooks(stand.service);
  const isHere = (row: { readonly sandboxId: string }) => row.sandboxId === sandboxId;
  return { prompts: prompts.filter(isHere), stops: stops.filter(isHere) };
};

describe.concurrent('two jobs in one sandbox, whose worker is killed', () => {
  it('while both follow: each completes with its own answer, and the first does not stop the machine of the other', async () => {
    const sandboxId = await readySandbox(stand.api);
    const worker = await stand.startWorker('both-follow');
    const start = async (jobId: string, end: 'stop' | 'keep') => {
      const source = { kind: 'existing', sandboxId } as const;
      const prompts = [{ prompt: shell(`${until(`go-${jobId}`)}; echo of ${jobId}`) }];
      return worker.start({ jobId, source, prompts, end });
    };
    const [first, second] = await Promise.all([start('first', 'stop'), start('second', 'keep')]);
    const running = async () => (await booksOfSandbox(sandboxId)).prompts.filter(({ status }) => status === 'running');
    const phases = () => Promise.all([first, second].map(async (job) => (await progressOf(job)).phase));
    await vi.waitFor(async () => expect(await phases()).toEqual(['following', 'following']), patient);
    worker.kill();
    await worker.replaced;
    await create(sandboxId, 'go-first');
    expect(await first.result()).toMatchObject({
      outcome: 'completed',
      prompts: [{ status: 'completed', result: 'of first\n' }],
      stop: null,
      error: { code: 'sandbox_leased' },
      left: [{ sandboxId }],
    });
    expect(await running()).toHaveLength(1);
    await create(sandboxId, 'go-second');
    expect(await second.result()).toMatchObject({
      outcome: 'completed',
      prompts: [{ status: 'completed', result: 'of second\n' }],
      left: [],
    });
    const { prompts, stops } = await booksOfSandbox(sandboxId);
    expect({ prompts: prompts.length, stops: stops.length }).toEqual({ prompts: 2, stops: 0 });
  });

  it('before it knows that both prompts were accepted: none is sent again or interrupted, and a person can decide', async () => {
    const sandboxId = await readySandbox(stand.api);
    const isPrompt = (path: string) => path.endsWith(`${sandboxId}/prompt`);
    let asked = 0;
    let release: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const worker = await stand.startWorker('both-send', {
      onAsked(path, { kill }) {
        if (!isPrompt(path)) return undefined;
        asked += 1;
        if (asked === 2) {
          kill();
          release();
        }
        return both;
      },
    });
    const start = async (jobId: string, over: Pick<JobInput, 'end' | 'onUnknownOutcome'>) => {
      const source = { kind: 'existing', sandboxId } as const;
      const prompts = [{ prompt: shell(`${until('go')}; echo of ${jobId}`) }];
      return worker.start({ jobId, source, prompts, timing, ...over });
    };
    const [ending, waiting] = await Promise.all([
      start('ending', { end: 'stop', onUnknownOutcome: 'abandon' }),
      start('waiting', { end: 'keep', onUnknownOutcome: 'wait' }),
    ]);
    await worker.replaced;
    const blockedAt = async () => (await progressOf(waiting)).blocked?.step;
    await vi.waitFor(async () => expect(await blockedAt()).toBe('prompt'), patient);
    expect(await ending.result()).toMatchObject({
      outcome: 'outcome_unknown',
      prompts: [{ status: 'unknown', promptId: null }],
      stop: null,
      left: [
        { kind: 'prompt', sandboxId },
        { kind: 'sandbox', sandboxId },
      ],
    });
    const { prompts, stops } = await booksOfSandbox(sandboxId);
    expect(prompts.map(({ status }) => status)).toEqual(['running', 'running']);
    expect(stops).toEqual([]);
    const own = prompts.find(({ text }) => text.includes('of waiting'));
    const sent = { action: 'sent', promptId: own?.id, conversationId: own?.conversationId } as const;
    await waiting.executeUpdate(resolveUpdate, { args: [sent] });
    await create(sandboxId, 'go');
    expect(await waiting.result()).toMatchObject({ outcome: 'completed', prompts: [{ result: 'of waiting\n' }] });
  });
});
