/** Search attributes: what workflows write, and how lists filter by them; pages of lists. Tier: temporal, some 4 s. */
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, inject, it, vi } from 'vitest';
import { outcomeUnknown } from '../../activities/retry/classify.js';
import { jobWorkflowId } from '../../src/addresses/addresses.js';
import { ApiError } from '../../src/client/index.js';
import { awaitFanout, submitFanout } from '../../src/workflow-client/fanouts/submit-fanout.js';
import { resolveJob, type StartJobOptions, startJob } from '../../src/workflow-client/jobs/job-client.js';
import { type ListJobsOptions, listFanouts, listJobs } from '../../src/workflow-client/list-executions.js';
import { runScheduleNow } from '../../src/workflow-client/schedules/run-now.js';
import { changeSchedule, putSchedule } from '../../src/workflow-client/schedules/schedule-client.js';
import { scheduledJob } from '../../src/workflow-client/schedules/scheduled-work.js';
import { registerSearchAttributes, requireSearchAttributes } from '../../src/workflow-client/search-attributes.js';
import type { JobInput } from '../../workflows/index.js';
import { cli } from '../unit/cli/in-process.js';
import { shareChangedStand } from './changed-stand.js';
import { archivedSandbox, fanoutInput, items, source } from './fanout/fanout-harness.js';
import { jobInput, patient, script } from './workflow-harness.js';

const deployment = `a${randomBytes(5).toString('hex')}`;
const { stand, change } = shareChangedStand();
beforeAll(async () => {
  // No other file of the run adds them.
  expect(new Set(Object.values(await registerSearchAttributes(stand.client)))).toEqual(new Set(['added']));
  await vi.waitFor(() => requireSearchAttributes(stand.client), patient);
});

const env = () => ({
  SANDBOX_API_URL: stand.service.url,
  SANDBOX_API_KEY: 'test-key',
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  SANDFLOW_TASK_QUEUE: stand.taskQueue,
  SANDFLOW_DEPLOYMENT: deployment,
  SANDFLOW_SEARCH_ATTRIBUTES: 'on',
});
const run = (...args: string[]) => cli(args, { env: env() });

const start = async (jobId: string, over: Partial<JobInput> = {}, options: Partial<StartJobOptions> = {}) => {
  const input = jobInput({ deployment, jobId, ...over });
  return (await startJob(stand.client, input, { taskQueue: stand.taskQueue, searchAttributes: true, ...options }))
    .handle;
};

/** Visibility lags. */
const listed = (options: Partial<ListJobsOptions>, ids: readonly string[]) =>
  vi.waitFor(async () => {
    const rows = await listJobs(stand.client, { deployment, ...options });
    expect(rows.map(({ jobId }) => jobId).sort()).toEqual([...ids].sort());
    return rows;
  }, patient);

const written = async (workflowId: string) => {
  const { events } = await stand.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ upsertWorkflowSearchAttributesEventAttributes: upsert }) =>
    upsert
      ? [
          Object.keys(upsert.searchAttributes?.indexedFields ?? {})
            .sort()
            .join(),
        ]
      : [],
  );
};

it('the command that adds them can be repeated', async () => {
  expect((await run('jobs', 'attributes')).stdout).toContain('SandflowBlocked  present\n');
  expect(JSON.parse((await run('jobs', 'attributes', '--json')).stdout)).toMatchObject({
    attributes: { SandflowBatch: 'present' },
  });
});

it('without the setting, a job writes none', async () => {
  const handle = await start('plain', {}, { searchAttributes: false });
  await handle.result();
  expect(await written(handle.workflowId)).toEqual([]);
  const { events } = await handle.fetchHistory();
  expect(events?.[0]?.workflowExecutionStartedEventAttributes?.searchAttributes).toBeFalsy();
});

it('a job writes its sandbox and its outcome, once each', async () => {
  const handle = await start('failing', { prompts: [{ prompt: script('exit 3') }] });
  const { sandboxId } = await handle.result();
  expect(await written(handle.workflowId)).toEqual(['SandflowSandbox', 'SandflowOutcome']);
  await listed({ outcome: 'prompt_failed' }, ['failing']);
  await listed({ outcome: 'prompt_failed', failed: true, sandbox: sandboxId ?? '' }, ['failing']);
  await listed({ outcome: 'completed', sandbox: sandboxId ?? '' }, []);
  await listed({ outcome: `o'prompt\\failed' OR WorkflowType != '` }, []);
});

it('a job is listed as blocked until it goes on', async () => {
  change.createSandbox = async () => {
    throw outcomeUnknown('Nobody knows.', { endpoint: 'createSandbox' });
  };
  const handle = await start('stuck');
  await listed({ blocked: true }, ['stuck']);
  delete change.createSandbox;
  await resolveJob(stand.client, { deployment, jobId: 'stuck' }, { action: 'resend' });
  await handle.result();
  await listed({ blocked: true }, []);
  const all = ['SandflowBlocked', 'SandflowBlocked', 'SandflowSandbox', 'SandflowOutcome'];
  expect(await written(handle.workflowId)).toEqual(all);
});

it('a job that ends while it is blocked writes its end once', async () => {
  await stand.fault({ kind: 'error', endpoint: 'createSandbox', status: 429, code: 'daily_limit_reached' });
  const handle = await start('refused');
  await listed({ blocked: true }, ['refused']);
  await handle.cancel();
  await handle.result();
  await listed({ outcome: 'cancelled' }, ['refused']);
  expect((await written(handle.workflowId)).at(-1)).toBe('SandflowBlocked,SandflowOutcome');
});

it('a job that continues as new hands on no block, because its next run may have none', async () => {
  let first: string | undefined;
  let meaning: 'throttled_shortly' | 'blocked' = 'throttled_shortly';
  change.createSandbox = async (body, options) => {
    const { runId } = await stand.client.workflow.getHandle(jobWorkflowId(deployment, 'moved')).describe();
    first ??= runId;
    if (runId !== first) return stand.api.createSandbox(body, options);
    const fields = { endpoint: 'createSandbox', status: 429, code: 'daily_limit_reached', meaning } as const;
    // The history is long enough by the second refusal.
    meaning = 'blocked';
    throw new ApiError('no', { ...fields, typed: true, requestId: null, retryAfterMs: 200, details: null });
  };
  const handle = await start('moved', { maxHistoryEvents: 12 });
  await handle.result();
  const { runId } = await stand.client.workflow.getHandle(handle.workflowId).describe();
  expect(runId).not.toBe(first);
  expect((await written(handle.workflowId)).at(-1)).toBe('SandflowOutcome');
});

it('an item has its batch, its sandbox and its outcome', async () => {
  const input = fanoutInput(source(await archivedSandbox(stand)), { deployment });
  const { batchId } = input;
  const commands = (at: number) => (at === 0 ? 'exit 1' : 'true');
  await submitFanout(stand.client, input, items(2, commands), { taskQueue: stand.taskQueue, searchAttributes: true });
  const { outcome } = await awaitFanout(stand.client, input);
  const [failed] = await listed({ batch: batchId, outcome: 'prompt_failed' }, [`${batchId}/i0`]);
  expect(failed).toMatchObject({ outcome: 'prompt_failed', status: 'completed' });
  await listed({ batch: batchId }, [`${batchId}/i0`, `${batchId}/i1`]);
  await vi.waitFor(async () =>
    expect(await listFanouts(stand.client, { deployment, outcome })).toMatchObject([{ batchId, outcome }]),
  );
  expect(await written(`${jobWorkflowId(deployment, batchId)}/i0`)).toEqual(['SandflowSandbox', 'SandflowOutcome']);
  const { stdout } = await run('jobs', 'list', '--batch', batchId, '--outcome', 'completed', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ jobs: [{ jobId: `${batchId}/i1` }], next: null });
});

it('a job of a schedule has them too', async () => {
  const name = 'nightly';
  const { prompts, timing } = jobInput();
  const options = { schedule: name, results: stand.results, searchAttributes: true };
  const work = await scheduledJob(stand.client, { deployment, prompts, timing }, options);
  const times = { cron: '@yearly', zone: 'UTC' };
  await putSchedule(stand.client, { deployment, name, taskQueue: stand.taskQueue, work, times });
  const { id } = (await runScheduleNow(stand.client, { deployment, name })) as { id: string };
  await changeSchedule(stand.client, 'remove', { deployment, name });
  await listed({ outcome: 'completed', labels: { schedule: name } }, [id]);
});

it('pages hold each job once, in any state, also one that has continued as new or ran again', async () => {
  const labels = { part: 'pages' };
  const quick = { source: { kind: 'existing', sandboxId: 'bx_23456789' } } as const;
  const long = { prompts: Array.from({ length: 4 }, () => ({ prompt: script('true') })), maxHistoryEvents: 30 };
  const chained = await start('p-chained', long, { labels });
  const again = await start('p-again', quick, { labels });
  await Promise.all([again.result(), ...['p-1', 'p-2', 'p-3', 'p-4'].map((id) => start(id, quick, { labels }))]);
  const running = await start('p-runs', { prompts: [{ prompt: script('sleep 600') }] }, { labels });
  await chained.result();
  await (await start('p-again', quick, { labels, again: true })).result();
  await listed({ labels }, ['p-chained', 'p-again', 'p-1', 'p-2', 'p-3', 'p-4', 'p-runs']);
  const firstPage = await listJobs(stand.client, { deployment, labels, limit: 2 });
  await running.cancel();
  await running.result();
  await listed({ labels, open: true }, []);
  const all = firstPage.map(({ jobId }) => jobId);
  for (let last = firstPage.at(-1); last; ) {
    const page = await listJobs(stand.client, { deployment, labels, limit: 2, after: last.place });
    all.push(...page.map(({ jobId }) => jobId));
    last = page.at(-1);
  }
  expect(all).toEqual((await listJobs(stand.client, { deployment, labels })).map(({ jobId }) => jobId));

  const byCommand: string[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const { stdout, stderr } = await run(
      'jobs',
      'list',
      '--label',
      'part=pages',
      '--limit',
      '3',
      '--json',
      ...(next ? ['--after', next] : []),
    );
    const read = JSON.parse(stdout);
    byCommand.push(...read.jobs.map(({ jobId }: { jobId: string }) => jobId));
    next = read.next;
    expect(stderr).toBe('');
  }
  expect(byCommand).toEqual(all);
});
