/** The worker is killed with SIGKILL while two jobs work in one sandbox that neither has created. */

import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSandboxClient, type SandboxClient } from '../../../../src/client/index.js';
import type { JobInput } from '../../../../src/protocol/job/job-input.js';
import { resolveUpdate } from '../../../../src/protocol/messages.js';
import { connectTemporal } from '../../../../src/temporal/connect.js';
import { startJob } from '../../../../src/workflow-client/jobs/job-client.js';
import { startKilledWorker } from '../../../e2e/faults/killed-worker.js';
import { patient, readBooks, shell } from '../../../e2e/stack/fixture.js';
import { createParts, type LocalService, type PartsOfStack } from '../../../e2e/stack/fixture-parts.js';
import { readySandbox } from '../../../e2e/stack/fixture-sandbox.js';
import { progressOf } from '../../../workflows/job-progress.js';

let parts: PartsOfStack;
let service: LocalService;
let api: SandboxClient;
let temporal: Client;
beforeAll(async () => {
  parts = await createParts();
  service = await parts.startService('service');
  api = createSandboxClient({ baseUrl: service.url, apiKey: service.apiKey });
  temporal = await connectTemporal({ address: parts.environment(service, '').TEMPORAL_ADDRESS ?? '' });
});
afterAll(async () => {
  await temporal.connection.close();
  await api.close();
  await parts.close();
});

/** For a policy that otherwise waits over a minute for evidence. */
const timing = { safetyPollFirstMs: 200, safetyPollGrowth: 1, safetyPollMaxMs: 200 };
const until = (file: string) => `while [ ! -e ${file} ]; do sleep 0.1; done`;
const create = (sandboxId: string, path: string) => api.writeFile(sandboxId, { path, content: '', encoding: 'utf8' });
const booksOfSandbox = async (sandboxId: string) => {
  const { prompts, stops } = await readBooks(service);
  const isHere = (row: { readonly sandboxId: string }) => row.sandboxId === sandboxId;
  return { prompts: prompts.filter(isHere), stops: stops.filter(isHere) };
};

describe.concurrent('two jobs in one sandbox, whose worker is killed', () => {
  it('while both follow: each completes with its own answer, and the first does not stop the machine of the other', async () => {
    const sandboxId = await readySandbox(api);
    const worker = await startKilledWorker(parts, service, { taskQueue: 'both-follow' });
    try {
      const start = async (jobId: string, end: 'stop' | 'keep') => {
        const source = { kind: 'existing', sandboxId } as const;
        const prompts = [{ prompt: shell(`${until(`go-${jobId}`)}; echo of ${jobId}`) }];
        return (await startJob(temporal, { deployment: 'parts', jobId, source, prompts, end }, worker)).handle;
      };
      const [first, second] = await Promise.all([start('first', 'stop'), start('second', 'keep')]);
      const running = async () =>
        (await booksOfSandbox(sandboxId)).prompts.filter(({ status }) => status === 'running');
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
    } finally {
      await worker.close();
    }
  });

  it('before it knows that both prompts were accepted: none is sent again or interrupted, and a person can decide', async () => {
    const sandboxId = await readySandbox(api);
    const isPrompt = (path: string) => path.endsWith(`${sandboxId}/prompt`);
    let sent = 0;
    let release: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const worker = await startKilledWorker(parts, service, {
      taskQueue: 'both-send',
      onAsked(path, { kill }) {
        if (!isPrompt(path)) return undefined;
        sent += 1;
        if (sent === 2) {
          kill();
          release();
        }
        return both;
      },
    });
    try {
      const start = async (jobId: string, over: Pick<JobInput, 'end' | 'onUnknownOutcome'>) => {
        const source = { kind: 'existing', sandboxId } as const;
        const prompts = [{ prompt: shell(`${until('go')}; echo of ${jobId}`) }];
        return (await startJob(temporal, { deployment: 'parts', jobId, source, prompts, timing, ...over }, worker))
          .handle;
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
    } finally {
      await worker.close();
    }
  });
});
