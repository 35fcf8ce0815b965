/** Lists of jobs and batches answer "what failed last night?", and a job can be run again. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { fanoutProgress } from '../../../src/workflow-client/fanouts/fanout-client.js';
import { awaitFanout, submitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { rerunJob } from '../../../src/workflow-client/jobs/rerun-job.js';
import { type ListJobsOptions, listFanouts, listJobs } from '../../../src/workflow-client/list-executions.js';
import { fanoutInput, source, usableSandbox } from '../../workflows/fanout/fanout-harness.js';
import { progressOf } from '../../workflows/job-progress.js';
import { createStand, jobInput, patient, type Stand, script } from '../../workflows/workflow-harness.js';

const deployment = `l${randomBytes(5).toString('hex')}`;
/** The jobs of tests that count all jobs must not be among these. */
const others = `m${randomBytes(5).toString('hex')}`;
const team = { team: 'search' };
let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
  const start = (jobId: string, over: object, labels?: Record<string, string>) =>
    startJob(stand.client, jobInput({ deployment, jobId, ...over }), { taskQueue: stand.taskQueue, labels });
  const failing = { prompts: [{ prompt: script('exit 3') }] };
  const jobs = [
    await start('good', {}, team),
    await start('bad', failing, team),
    await start('cancelled', { prompts: [{ prompt: script('sleep 600') }] }),
    await start('terminated', { prompts: [{ prompt: script('sleep 600') }] }),
  ];
  await jobs[2]?.handle.cancel();
  await jobs[3]?.handle.terminate('no longer needed');
  await Promise.allSettled(jobs.map(({ handle }) => handle.result()));
});
afterAll(() => stand.close());

/** Visibility lags. */
const listed = (options: Partial<ListJobsOptions>, ids: readonly string[]) =>
  vi.waitFor(async () => {
    const rows = await listJobs(stand.client, { deployment, ...options });
    expect(rows.map(({ jobId }) => jobId).sort()).toEqual([...ids].sort());
    return rows;
  }, patient);

it('a list of jobs has the outcome of each', async () => {
  const rows = await vi.waitFor(async () => {
    const all = await listJobs(stand.client, { deployment });
    const outcomes = all.map(({ jobId, status, outcome }) => `${jobId}: ${status}, ${outcome}`);
    expect(outcomes.sort()).toEqual([
      'bad: completed, prompt_failed',
      'cancelled: completed, cancelled',
      'good: completed, completed',
      'terminated: terminated, null',
    ]);
    return all;
  }, patient);
  const starts = rows.map(({ startedAt }) => startedAt);
  expect(starts, 'the last start first').toEqual(starts.toSorted().reverse());
});

it('--failed lists what failed or was terminated, not what was cancelled', () =>
  listed({ failed: true }, ['bad', 'terminated']));

it('a job that continued as new is listed once, with its labels and first start, and did not fail before its end', async () => {
  const prompts = Array.from({ length: 4 }, () => ({ prompt: script('echo hello') }));
  const input = jobInput({ deployment: others, jobId: 'chained', prompts, maxHistoryEvents: 30 });
  const { handle } = await startJob(stand.client, input, { taskQueue: stand.taskQueue, labels: team });
  await handle.result();
  const { times } = await progressOf(handle);
  const { runId, raw, startTime } = await handle.describe();
  expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(runId);
  expect(startTime.getTime(), 'start of the newest run').toBeGreaterThan(Date.parse(times?.startedAt ?? ''));
  await vi.waitFor(
    async () =>
      expect(await listJobs(stand.client, { deployment: others, labels: team })).toMatchObject([
        { jobId: 'chained', status: 'completed', outcome: 'completed', labels: team, startedAt: times?.startedAt },
      ]),
    patient,
  );
  await listed({ deployment: others, failed: true }, []);
});

it('a job that runs again did not fail, although its earlier run did', async () => {
  const labels = { part: 'again' };
  const again = { taskQueue: stand.taskQueue, labels, again: true };
  const input = (command: string) =>
    jobInput({ deployment: others, jobId: 'repeated', prompts: [{ prompt: script(command) }] });
  const first = await startJob(stand.client, input('exit 3'), again);
  await first.handle.result();
  await listed({ deployment: others, labels, failed: true }, ['repeated']);
  const { handle } = await startJob(stand.client, input('sleep 600'), again);
  await listed({ deployment: others, labels, failed: true }, []);
  expect(await listed({ deployment: others, labels }, ['repeated'])).toMatchObject([
    { status: 'running', outcome: null },
  ]);
  await handle.cancel();
  await handle.result();
  await listed({ deployment: others, labels, open: true }, []);
  await listed({ deployment: others, labels, failed: true }, []);
});

it('a list can be limited to labels and to a time', async () => {
  await listed({ labels: team }, ['good', 'bad']);
  await listed({ labels: { team: 'other' } }, []);
  await listed({ labels: team, failed: true }, ['bad']);
  await listed({ since: new Date(Date.now() - 3_600_000) }, ['good', 'bad', 'cancelled', 'terminated']);
  await listed({ since: new Date(Date.now() + 3_600_000) }, []);
});

it('a job runs again with the input and labels of an earlier one', async () => {
  const options = { newJobId: 'good-again', taskQueue: stand.taskQueue };
  const { handle, started } = await rerunJob(stand.client, { deployment, jobId: 'good' }, options);
  expect(started).toBe(true);
  expect((await rerunJob(stand.client, { deployment, jobId: 'good' }, options)).started).toBe(false);
  const taken = (newJobId: string) =>
    rerunJob(stand.client, { deployment, jobId: 'good' }, { newJobId, taskQueue: stand.taskQueue });
  await expect(taken('bad')).rejects.toMatchObject({ code: 'job_differs' });
  await expect(taken('good')).rejects.toMatchObject({ code: 'bad_job_input' });
  expect(await handle.result()).toMatchObject({
    jobId: 'good-again',
    outcome: 'completed',
    prompts: [{ result: 'hello\n' }],
  });
  await listed({ labels: team }, ['good', 'bad', 'good-again']);
});

it('a list of batches has their outcome and labels', async () => {
  const input = fanoutInput(source(await usableSandbox(stand)), { deployment });
  const items = [{ id: 'one', prompts: [{ prompt: script('exit 1') }] }];
  await submitFanout(stand.client, input, items, { taskQueue: stand.taskQueue, labels: team });
  const { outcome } = await awaitFanout(stand.client, input);
  expect(outcome).not.toBe('completed');
  await vi.waitFor(
    async () =>
      expect(await listFanouts(stand.client, { deployment, failed: true, labels: team })).toMatchObject([
        { batchId: input.batchId, status: 'completed', outcome, labels: team },
      ]),
    patient,
  );
});

it('a job that is asked for as a batch is named as a job', async () => {
  const asked = fanoutProgress(stand.client, { deployment, batchId: 'good' });
  await expect(asked).rejects.toMatchObject({ code: 'not_a_fanout' });
});
