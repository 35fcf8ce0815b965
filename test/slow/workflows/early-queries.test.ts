/**
 * Queries that reach a worker before the workflow task for the latest events. They wait in Temporal while there is no
 * worker, and timers fire meanwhile.
 */
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createEncryptedDataConverter } from '../../../src/encryption/index.js';
import { jobProgress } from '../../../src/workflow-client/jobs/job-client.js';
import { createEncryptedStand, encryptedWorkflows, ringOf } from '../../workflows/encryption/encrypted-harness.js';
import { progressOf } from '../../workflows/job-progress.js';
import { createStand, deployment, letGo, type Stand, script, untilGo } from '../../workflows/workflow-harness.js';

let stand: Stand;
const ring = ringOf('one');
const plain = {
  create: () => createStand(),
  replayOptions: async () => ({ workflowBundle: { codePath: inject('workflowBundlePath') } }),
};
const encrypted = {
  create: () => createEncryptedStand(ring),
  replayOptions: async () => ({
    workflowBundle: encryptedWorkflows(),
    dataConverter: createEncryptedDataConverter(ring),
  }),
};

type Handle = Awaited<ReturnType<Stand['start']>>;

const startFollowed = async () => {
  // The job renews the auto-stop with a timer of half its length.
  const handle = await stand.start({ ttlSeconds: 8, prompts: [{ prompt: script(untilGo) }] });
  await expect.poll(() => progressOf(handle)).toMatchObject({ phase: 'following' });
  return handle;
};
/** True if a timer has fired since the last workflow task, and no task has started since. */
const hasFired = async (handle: Handle) => {
  const events = (await handle.fetchHistory()).events ?? [];
  const task = events.findLastIndex(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  const later = events.slice(task);
  const isStarted = later.some(({ workflowTaskStartedEventAttributes }) => workflowTaskStartedEventAttributes);
  return !isStarted && later.some(({ timerFiredEventAttributes }) => timerFiredEventAttributes);
};
/** Waits until timers have fired. The worker may have taken a task of a job and not answered it at its end. */
const awaitFired = async (handles: readonly Handle[]) => {
  let fired: Handle[] = [];
  await expect
    .poll(async () => {
      const found = await Promise.all(handles.map(hasFired));
      fired = handles.filter((_, at) => found[at]);
      return fired.length;
    })
    .toBeGreaterThan(0);
  return fired;
};
const jobOf = ({ workflowId }: Handle) => ({ deployment, jobId: workflowId.replace(`sf-${deployment}-`, '') });

describe.each([
  ['with plain payloads', plain],
  ['with encrypted payloads', encrypted],
])('queries that arrive before the task for a fired timer, %s,', (_, { create, replayOptions }) => {
  beforeAll(async () => {
    stand = await create();
  });
  afterAll(() => stand.close());

  it('are answered after it, and the histories replay', async () => {
    const jobs = await Promise.all(Array.from({ length: 10 }, startFollowed));
    let asked: Promise<unknown>[] = [];
    await stand.restartWorker(async () => {
      await awaitFired(jobs);
      asked = jobs.map((job) => jobProgress(stand.client, jobOf(job)));
      for (const one of asked) one.catch(() => undefined);
    });
    expect(await Promise.all(asked)).toMatchObject(jobs.map((job) => ({ jobId: jobOf(job).jobId })));
    for (const job of jobs) {
      await letGo(stand, (await jobProgress(stand.client, jobOf(job))).sandboxId);
      expect(await job.result()).toMatchObject({ outcome: 'completed', left: [] });
      await Worker.runReplayHistory(await replayOptions(), await job.fetchHistory(), job.workflowId);
    }
  });

  it('are answered for a job that was terminated before that task', async () => {
    const jobs = await Promise.all([1, 2, 3].map(startFollowed));
    let terminated: Handle[] = [];
    await stand.restartWorker(async () => {
      terminated = await awaitFired(jobs);
      for (const job of jobs) await job.terminate('test');
    });
    for (const job of terminated) {
      expect(await jobProgress(stand.client, jobOf(job))).toMatchObject({ phase: 'following', outcome: null });
    }
  });
});
