/** A refused hand-over. Gate; costs some 3 CPU seconds. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { DefaultLogger, type LogEntry, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { expect, inject, it, onTestFinished } from 'vitest';
import { createFollowActivities } from '../../activities/index.js';
import type { FollowPromptInput } from '../../activities/prompt/follow-prompt.js';
import type { SandboxClient } from '../../src/client/index.js';
import { createResultStore } from '../../src/result-store/index.js';
import type { callActivity } from './own/call-activity.js';

const logged: LogEntry[] = [];
Runtime.install({ logger: new DefaultLogger('WARN', (entry) => void logged.push(entry)) });

const prompts = 10;

it('a prompt that Temporal does not let a worker hand over is followed on by shared reads, and the log says once why', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-refused-'));
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const ids = Array.from({ length: prompts }, (_, index) => `bx_${index}`);
  let state = 'running';
  const calls = { lists: 0, reads: 0 };
  const played: Partial<SandboxClient> = {
    listAllSandboxes: async () => {
      calls.lists += 1;
      return ids.map((id) => ({ id, state }));
    },
    getSandbox: async (id) => {
      calls.reads += 1;
      return { sandbox: { id, state } };
    },
    getPrompt: async (_, id) => ({
      prompt: { id, status: state === 'running' ? 'running' : 'completed', result: null },
    }),
  };
  const taskQueue = `refused-${randomBytes(4).toString('hex')}`;
  const activities = createFollowActivities({
    client: played as SandboxClient,
    results: createResultStore(directory),
    // Longer than Temporal allows.
    taskQueue: 'x'.repeat(2_000),
    follow: { minIntervalMs: 100, youngFollowMs: 0 },
  });
  const workflowBundle = { codePath: inject('callActivityBundlePath') };
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities });
  const running = worker.run();
  onTestFinished(async () => {
    worker.shutdown();
    await running;
    await connection.close();
    await rm(directory, { recursive: true });
  });
  const follow = (sandboxId: string) => {
    const sinceMs = Date.now();
    const input: FollowPromptInput = {
      ...{
        sandboxId,
        promptId: 'prm_1',
        conversationId: null,
        prompt: 'Work.',
        knownPromptIds: [],
        recordKey: 'record',
      },
      ...{ isOwnSandbox: true, resultKey: 'result', answerBytes: 1_000, sideBySide: false, readLagMs: 60_000 },
      handOver: { sinceMs, toldUntilMs: sinceMs + 600_000 },
    };
    return new Client({ connection }).workflow.execute<typeof callActivity>('callActivity', {
      workflowId: `${taskQueue}-${sandboxId}`,
      taskQueue,
      args: ['followPrompt', [input]],
    });
  };
  const ended = Promise.all(ids.map(follow));
  const lines = () => logged.filter(({ message }) => message === 'the follower of prompts does not take a prompt');
  await expect.poll(() => lines().length).toBe(prompts);
  const before = calls.lists;
  await expect.poll(() => calls.lists).toBeGreaterThan(before + 5);
  state = 'idle';
  await ended;
  expect(calls.reads).toBe(prompts);
  expect(lines()).toHaveLength(prompts);
  expect(lines()[0]?.meta).toMatchObject({ why: expect.stringMatching(/length/i), sandboxId: expect.any(String) });
});
