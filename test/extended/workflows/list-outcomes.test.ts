/** A list of jobs has the outcome of every ended job, whatever became of its sandbox and whoever started it. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { FaultInput } from '../../../local-service/src/index.js';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { createEncryptedDataConverter, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { fanoutProgress } from '../../../src/workflow-client/fanouts/fanout-client.js';
import { awaitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { listFanouts, listJobs } from '../../../src/workflow-client/list-executions.js';
import type { createThenPrompt, JobInput, JobOutcome } from '../../../workflows/index.js';
import { archivedSandbox, fanoutInput, items, source, submit } from '../../workflows/fanout/fanout-harness.js';
import { progressOf } from '../../workflows/job-progress.js';
import { createStand, jobInput, patient, type Stand, script } from '../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const ends = ['stop', 'delete', 'keep'] as const;
type JobEnd = (typeof ends)[number];

const newDeployment = () => `o${randomBytes(5).toString('hex')}`;
const long = [{ prompt: script('sleep 600') }];
const page: FaultInput = { kind: 'error', endpoint: 'sendPrompt', status: 502, html: true };
const reached: readonly [JobOutcome, Partial<JobInput>, readonly FaultInput[]][] = [
  ['completed', {}, []],
  ['unverified', { checks: ['false'] }, []],
  ['prompt_failed', { prompts: [{ prompt: script('exit 3') }] }, []],
  ['sandbox_failed', { timing: { errorGraceMs: 500 } }, [{ kind: 'boot_error' }]],
  ['sandbox_cancelled', { maxGenerations: 1 }, [{ kind: 'create_cancelled' }]],
  ['rejected', { prompts: [{ prompt: 'hi', provider: 'nobody' }] }, []],
  ['deadline_exceeded', { prompts: long, deadlineMs: 2_000 }, []],
  ['cancelled', { prompts: long }, []],
  ['outcome_unknown', { onUnknownOutcome: 'abandon' }, [page]],
];

/** Visibility lags. */
const listed = (deployment: string, failed: boolean, expected: Readonly<Record<string, string>>) =>
  vi.waitFor(async () => {
    const rows = await listJobs(stand.client, { deployment, failed });
    expect(Object.fromEntries(rows.map(({ jobId, outcome }) => [jobId, outcome]))).toEqual(expected);
  }, patient);

it('a list has the outcomes of jobs that stop, delete or keep their sandbox', async () => {
  const deployment = newDeployment();
  const run = async ([outcome, over]: (typeof reached)[number], end: JobEnd) => {
    const input = jobInput({ deployment, jobId: `${outcome.replaceAll('_', '-')}-${end}`, end, ...over });
    const { handle } = await startJob(stand.client, input, { taskQueue: stand.taskQueue });
    if (outcome === 'cancelled') {
      const phase = async () => (await progressOf(handle)).phase;
      await vi.waitFor(async () => expect(await phase()).toBe('following'), patient);
      await handle.cancel();
    }
    expect((await handle.result()).outcome).toBe(outcome);
    return [input.jobId, outcome] as const;
  };
  const runEach = (rows: typeof reached) => Promise.all(rows.flatMap((row) => ends.map((end) => run(row, end))));
  const each = [];
  // A fault meets the next job that comes by.
  for (const row of reached.filter(([, , faults]) => faults.length > 0)) {
    for (const fault of row[2]) await stand.fault({ ...fault, times: ends.length });
    each.push(...(await runEach([row])));
  }
  each.push(...(await runEach(reached.filter(([, , faults]) => faults.length === 0))));
  await listed(deployment, false, Object.fromEntries(each));
  const failures = each.filter(([, outcome]) => outcome !== 'completed' && outcome !== 'cancelled');
  await listed(deployment, true, Object.fromEntries(failures));
});

it('a job and a batch that completed without a file are listed with those that failed, and the list says what they lack', async () => {
  const deployment = newDeployment();
  const job = { deployment, jobId: 'lacks', collect: ['here.txt', 'missing.txt'] };
  const input = jobInput({ ...job, prompts: [{ prompt: script('echo x > here.txt') }] });
  const { handle } = await startJob(stand.client, input, { taskQueue: stand.taskQueue });
  expect((await handle.result()).outcome).toBe('completed');
  const batch = fanoutInput(source(await archivedSandbox(stand)), {
    deployment,
    batchId: 'lacks-too',
    policy: { end: 'stop' },
  });
  const lacking = items(1).map((item) => ({ ...item, collect: ['missing.txt'] }));
  await submit(stand, batch, lacking);
  const ended = await awaitFanout(stand.client, batch);
  expect(ended).toMatchObject({ outcome: 'completed', shortfall: '1 file missing' });
  expect(await fanoutProgress(stand.client, batch)).toMatchObject({ shortfall: '1 file missing' });
  await vi.waitFor(async () => {
    const options = { deployment, failed: true };
    expect(await listJobs(stand.client, options)).toMatchObject([{ jobId: 'lacks', shortfall: '1 file missing' }]);
    expect(await listFanouts(stand.client, options)).toMatchObject([
      { batchId: 'lacks-too', outcome: 'completed', shortfall: '1 file missing', counts: { completed: 1, items: 1 } },
    ]);
  }, patient);
});

it('a list has the outcome of a job that a program started without a memo, and of one that kept its sandbox after it continued as new', async () => {
  const deployment = newDeployment();
  const failing = jobInput({ deployment, jobId: 'own', prompts: [{ prompt: script('exit 3') }] });
  const own = await stand.client.workflow.start<typeof createThenPrompt>('createThenPrompt', {
    workflowId: jobWorkflowId(deployment, failing.jobId),
    taskQueue: stand.taskQueue,
    args: [failing],
  });
  const prompts = ['echo a', 'echo b', 'echo c', 'exit 3'].map((command) => ({ prompt: script(command) }));
  const chained = jobInput({ deployment, jobId: 'chained', end: 'keep', prompts, maxHistoryEvents: 30 });
  const { handle } = await startJob(stand.client, chained, { taskQueue: stand.taskQueue });
  await Promise.all([own.result(), handle.result()]);
  const { runId, raw } = await handle.describe();
  expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(runId);
  await listed(deployment, true, { own: 'prompt_failed', chained: 'prompt_failed' });
});

it('a job whose outcome cannot be read is listed with those that failed', async () => {
  const deployment = newDeployment();
  const dataConverter = createEncryptedDataConverter(parseKeyRing(newKeyLine('lost')));
  const sealed = await createStand({ dataConverter });
  try {
    const input = jobInput({ deployment, jobId: 'sealed' });
    const { handle } = await startJob(sealed.client, input, { taskQueue: sealed.taskQueue });
    expect((await handle.result()).outcome).toBe('completed');
    await vi.waitFor(
      async () =>
        expect(await listJobs(stand.client, { deployment, failed: true })).toMatchObject([
          { jobId: 'sealed', outcome: null, unreadable: { code: expect.any(String) } },
        ]),
      patient,
    );
  } finally {
    await sealed.close();
  }
});
