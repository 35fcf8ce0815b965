/** Priorities and fairness keys of jobs and batches, by the order in which their calls come. Gate; costs some 15 s of CPU. */
import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SandboxClient } from '../../src/client/index.js';
import { startJob } from '../../src/workflow-client/jobs/job-client.js';
import type { FanoutPolicy } from '../../workflows/index.js';
import { changedBy } from './changed-stand.js';
import { archivedSandbox, batchOf, ended, fanoutInput, items, source, submit } from './fanout/fanout-harness.js';
import { createStand, endFaults, jobInput, type Stand, script, withoutPolls } from './workflow-harness.js';

const slots = 4;
let stand: Stand;
let sourceId: string;
/** Whose calls came, in order. A prompt waits until it is let go. */
let came: string[];
let letGo: () => void;
let held: Promise<void>;
/** By the id of the batch. */
const forksHeld = new Map<string, Promise<unknown>>();
const change: Partial<SandboxClient> = {
  async sendPrompt(sandboxId, body) {
    came.push(/of (\S+)/.exec(String(body.prompt))?.[1] ?? '');
    await held;
    return stand.api.sendPrompt(sandboxId, body);
  },
  async forkSandbox(sandboxId, body, options) {
    await forksHeld.get(String(body?.name).split('-').slice(2, 4).join('-'));
    return stand.api.forkSandbox(sandboxId, body, options);
  },
  async createSandbox(body, options) {
    came.push(`create ${String(body?.name).split('-')[2]}`);
    return stand.api.createSandbox(body, options);
  },
};
beforeAll(async () => {
  stand = await createStand({
    worker: { maxConcurrentActivityTaskExecutions: slots, forksPerSecond: 1_000 },
    through: changedBy(() => change),
  });
  sourceId = await archivedSandbox(stand);
});
afterAll(() => stand.close());
beforeEach(() => {
  came = [];
  held = new Promise((resolve) => {
    letGo = resolve;
  });
});

/** Starts a batch. Its prompts queue for the few slots once its forks are let go. */
async function queue(name: string, count: number, policy: Partial<FanoutPolicy> = {}) {
  const input = fanoutInput(source(sourceId), { timing: withoutPolls, policy: { concurrency: count, ...policy } });
  let letFork = (): void => undefined;
  forksHeld.set(input.batchId, new Promise<void>((resolve) => (letFork = resolve)));
  const prompts = items(count, () => `echo of ${name}`);
  await submit(stand, input, prompts);
  const itemsOfBatch = `${batchOf(stand, input).workflowId}/i`;
  await untilScheduled(itemsOfBatch, count, 'forkSandbox');
  return {
    input,
    letFork: () => letFork(),
    async untilQueued() {
      letFork();
      await untilScheduled(itemsOfBatch, count, 'sendAndFollowPrompt');
    },
  };
}
/** Waits until this many workflows have a call that waits for a slot or is held. */
const untilScheduled = (prefix: string, count: number, activity: string) =>
  expect
    .poll(async () => {
      let waiting = 0;
      for await (const { workflowId } of stand.client.workflow.list({
        query: `WorkflowId STARTS_WITH '${prefix}' AND ExecutionStatus = 'Running'`,
      })) {
        const { raw } = await stand.client.workflow.getHandle(workflowId).describe();
        const calls = raw.pendingActivities ?? [];
        if (calls.some(({ activityType }) => activityType?.name === activity)) waiting += 1;
      }
      return waiting;
    })
    .toBe(count);

it.each([
  ['of priority 1 goes before the items of a batch that wait', 1, true],
  ['of no priority does not wait for all of them either, because a batch is one key', undefined, true],
  ['of priority 5 waits for all of them', 5, false],
] as const)('a job %s', async (_, priority, isEarly) => {
  const count = 24;
  const { input, untilQueued } = await queue('item', count);
  await untilQueued();
  const jobId = `j${Date.now()}`;
  const { handle } = await startJob(stand.client, jobInput({ jobId, priority }), { taskQueue: stand.taskQueue });
  await untilScheduled(handle.workflowId, 1, 'createSandbox');
  letGo();
  await expect.poll(() => came).toContain(`create ${jobId}`);
  const before = came.indexOf(`create ${jobId}`);
  // Those in the slots, and what a poll had taken already.
  if (isEarly) expect(before).toBeLessThanOrEqual(2 * slots);
  else expect(before).toBe(count);
  await handle.result();
  await ended(stand, input);
});

it.each([
  ['with two keys start evenly', 'second', 0.5],
  ['with one key start in their order', 'first', 1],
] as const)('jobs that wait for a worker %s', async (_, fairnessKey, share) => {
  await stand.fault({ kind: 'error', endpoint: 'createSandbox', status: 422, code: 'invalid_request', times: 1_000 });
  const start = (jobId: string, fairnessKey: string) =>
    startJob(stand.client, jobInput({ jobId, fairnessKey }), { taskQueue: stand.taskQueue });
  const of = (name: string) => Array.from({ length: 30 }, (_, index) => `${name}${share * 2}i${index}`);
  const jobs: Awaited<ReturnType<typeof start>>[] = [];
  await stand.restartWorker(async () => {
    for (const jobId of of('first')) jobs.push(await start(jobId, 'first'));
    for (const jobId of of('second')) jobs.push(await start(jobId, fairnessKey));
  });
  for (const { handle } of jobs) expect(await handle.result()).toMatchObject({ outcome: 'rejected' });
  const counted = came.slice(0, 20);
  const got = counted.filter((name) => name.startsWith('create first')).length / counted.length;
  expect(Math.abs(got - share), `${got} of ${counted}`).toBeLessThanOrEqual(0.1);
  await endFaults(stand);
});

it('the activities of a job, and of the items of a batch, have its priority and key', async () => {
  const seen: Record<string, unknown> = {};
  const { sendPrompt } = change;
  change.sendPrompt = (sandboxId, body) => {
    seen[/of (\S+)/.exec(String(body.prompt))?.[1] ?? ''] = Context.current().info.priority;
    return stand.api.sendPrompt(sandboxId, body);
  };
  const prompts = (name: string) => [{ prompt: script(`echo of ${name}`) }];
  const start = (over: object) => startJob(stand.client, jobInput(over), { taskQueue: stand.taskQueue });
  const given = { priority: 2, fairnessKey: 'search' };
  const jobs = [
    // A run that goes on as new keeps them.
    await start({ ...given, prompts: [...prompts('one'), ...prompts('job')], maxHistoryEvents: 20 }),
    await start({ prompts: prompts('plain') }),
  ];
  for (const { handle } of jobs) await handle.result();
  const { input, letFork } = await queue('batch', 1, { priority: 5 });
  letFork();
  await ended(stand, input);
  change.sendPrompt = sendPrompt;
  expect(seen).toMatchObject({
    job: { priorityKey: 2, fairnessKey: 'search' },
    batch: { priorityKey: 5, fairnessKey: input.batchId },
    plain: { priorityKey: undefined, fairnessKey: undefined },
  });
});
