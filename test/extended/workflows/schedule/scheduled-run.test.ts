/** The workflow `scheduledRun`, started by Temporal Schedules on a real server. Tier: temporal, about 15 s. */
import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { cleanupPrefix, jobWorkflowId } from '../../../../src/addresses/addresses.js';
import { scheduleId } from '../../../../src/addresses/schedule-addresses.js';
import { readPolicy } from '../../../../src/retention/index.js';
import { listFanouts, listJobs } from '../../../../src/workflow-client/list-executions.js';
import { readSchedule, type ScheduledRun } from '../../../../src/workflow-client/schedules/read-schedules.js';
import { runScheduleNow } from '../../../../src/workflow-client/schedules/run-now.js';
import {
  changeSchedule,
  type PutScheduleOptions,
  putSchedule,
} from '../../../../src/workflow-client/schedules/schedule-client.js';
import {
  scheduledBatch,
  scheduledCleanup,
  scheduledJob,
} from '../../../../src/workflow-client/schedules/scheduled-work.js';
import { archivedSandbox, items, quickPace, source } from '../../../workflows/fanout/fanout-harness.js';
import { policy } from '../../../workflows/fanout/policy.js';
import {
  createStand,
  deployment,
  letGo,
  patient,
  type Stand,
  script,
  shortTiming,
  untilGo,
} from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

/** Far away, so that only what a test asks for runs. */
const times = { cron: '0 0 1 1 *', zone: 'UTC' };
const newName = () => `n${randomBytes(3).toString('hex')}`;

const put = (name: string, options: Pick<PutScheduleOptions, 'work'> & Partial<PutScheduleOptions>) =>
  putSchedule(stand.client, { deployment, name, taskQueue: stand.taskQueue, times, ...options });

const job = (schedule: string, commands = 'echo hello') =>
  scheduledJob(
    stand.client,
    { deployment, prompts: [{ prompt: script(commands) }], timing: shortTiming },
    { schedule, results: stand.results, labels: { team: 'search' } },
  );

const batch = async (schedule: string, count: number) =>
  scheduledBatch(
    stand.client,
    { deployment, source: source(await archivedSandbox(stand)), policy, timing: shortTiming, pace: quickPace },
    items(count),
    { schedule, results: stand.results },
  );

const keyOf = (ref: string) => ref.replace(/^.*:/, '');
const storedAt = (ref: string) => join(stand.resultsDirectory, keyOf(ref));

const runNow = (name: string) => runScheduleNow(stand.client, { deployment, name });

async function startNow(name: string): Promise<string> {
  const run = await runNow(name);
  if (run.kind !== 'started') throw new Error(`The run is ${run.kind}.`);
  return run.id;
}

const resultOf = (id: string) => stand.client.workflow.getHandle(jobWorkflowId(deployment, id)).result();

/** Waits until the newest runs of a schedule are these. */
const untilRuns = (name: string, expect: (runs: readonly ScheduledRun[]) => void) =>
  vi.waitFor(async () => expect((await readSchedule(stand.client, { deployment, name })).runs), patient);

/** The sandbox of a job that runs. */
const sandboxOf = (id: string) =>
  vi.waitFor(async () => {
    const { sandboxes } = await stand.api.listSandboxes();
    const own = sandboxes.find(({ name, state }) => name?.startsWith(`sf-${deployment}-${id}-`) && state === 'running');
    if (!own) throw new Error(`The job ${id} does not prompt yet.`);
    return own.id;
  }, patient);

describe.concurrent('a run of a schedule', () => {
  it('is a job whose id names the schedule and its time, with the labels of the schedule', async ({ expect }) => {
    const name = newName();
    await put(name, { work: await job(name) });
    const id = await startNow(name);
    expect(id).toMatch(new RegExp(`^${name}-\\d{6}-\\d{4}(\\d\\d)?$`));
    expect(await resultOf(id)).toMatchObject({ outcome: 'completed' });
    await untilRuns(name, (runs) => expect(runs).toEqual([{ id, dueAt: expect.any(String), outcome: 'completed' }]));
    await vi.waitFor(async () => {
      const labels = { schedule: name, team: 'search' };
      expect(await listJobs(stand.client, { deployment, labels })).toMatchObject([{ jobId: id, labels }]);
    }, patient);
  });

  it('is a batch with the items that were stored with the schedule', async ({ expect }) => {
    const name = newName();
    await put(name, { work: await batch(name, 3) });
    const id = await startNow(name);
    expect(await resultOf(id)).toMatchObject({ outcome: 'completed', counts: { items: 3, completed: 3 } });
    await vi.waitFor(async () => {
      const listed = await listFanouts(stand.client, { deployment, labels: { schedule: name } });
      expect(listed).toMatchObject([{ batchId: id, outcome: 'completed' }]);
    }, patient);
  });

  it('waits for stored items that are away, such as on a volume that is not mounted', async ({ expect }) => {
    const name = newName();
    // Equal items are one object, so each test has a number of its own.
    const work = await batch(name, 2);
    await put(name, { work });
    const file = storedAt(work.itemsRef);
    await rename(file, `${file}.away`);
    const id = await startNow(name);
    await vi.waitFor(async () => {
      const { info } = await stand.client.schedule.getHandle(scheduleId(deployment, name)).describe();
      const { raw } = await stand.client.workflow
        .getHandle(info.runningActions[0]?.workflow.workflowId ?? '')
        .describe();
      const [sending] = raw.pendingActivities ?? [];
      expect(sending?.lastFailure?.applicationFailureInfo?.type).toBe('SandflowError');
      expect(sending?.lastFailure?.message).toContain(keyOf(work.itemsRef));
    }, patient);
    await rename(`${file}.away`, file);
    expect(await resultOf(id)).toMatchObject({ outcome: 'completed', counts: { completed: 2 } });
  });

  it('ends its batch and fails if the stored items cannot be read', async ({ expect }) => {
    const name = newName();
    const work = await batch(name, 4);
    await put(name, { work });
    await writeFile(storedAt(work.itemsRef), '{}');
    const id = await startNow(name);
    expect(await resultOf(id)).toMatchObject({ outcome: 'cancelled' });
    await untilRuns(name, (runs) => expect(runs).toMatchObject([{ id, outcome: 'failed' }]));
  });

  it('is a cleanup', async ({ expect }) => {
    const name = newName();
    const rules = [{ rule: 'none', match: { name: 'no-such-*' }, action: 'delete-sandbox' }];
    const nothing = readPolicy(JSON.stringify({ name, timeZone: 'UTC', rules }), 'policy.json');
    await put(name, { work: scheduledCleanup({ deployment, policy: nothing, settings: { settleMs: 0 } }) });
    const id = await startNow(name);
    const handle = stand.client.workflow.getHandle(`${cleanupPrefix(deployment)}${id}`);
    expect(await handle.result()).toMatchObject({ outcome: 'applied', policy: name });
    await untilRuns(name, (runs) => expect(runs).toMatchObject([{ id, outcome: 'applied' }]));
  });

  it('starts nothing for a time that has been run', async ({ expect }) => {
    const name = newName();
    await put(name, { work: await job(name), times: { cron: '30 2 * * *', zone: 'UTC' } });
    const backfill = () =>
      stand.client.schedule.getHandle(scheduleId(deployment, name)).backfill({
        start: new Date('2026-11-19T00:00:00Z'),
        end: new Date('2026-11-20T12:00:00Z'),
        overlap: 'BUFFER_ALL',
      });
    const ids = [`${name}-261120-0230`, `${name}-261119-0230`];
    await backfill();
    await untilRuns(name, (runs) => expect(runs).toMatchObject(ids.map((id) => ({ id, outcome: 'completed' }))));
    const first = await Promise.all(ids.map((id) => runIdOf(id)));
    await backfill();
    const outcomes = ['already_run', 'already_run', 'completed', 'completed'];
    await untilRuns(name, (runs) => expect(runs.map(({ outcome }) => outcome)).toEqual(outcomes));
    expect(await Promise.all(ids.map((id) => runIdOf(id)))).toEqual(first);
  });

  it('has an id of its own if several are asked for within one second', async ({ expect }) => {
    const name = newName();
    await put(name, { work: await job(name), overlap: 'allow-all' });
    const ids = [await startNow(name), await startNow(name), await startNow(name)];
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(await resultOf(id)).toMatchObject({ outcome: 'completed' });
  });

  it('is skipped while the last one runs, or waits for its end', async ({ expect }) => {
    const name = newName();
    await put(name, { work: await job(name, untilGo) });
    const id = await startNow(name);
    expect(await runNow(name)).toEqual({ kind: 'skipped' });
    await put(name, { work: await job(name, untilGo), overlap: 'buffer-one', ifExists: 'replace' });
    expect(await runNow(name)).toEqual({ kind: 'waiting', id: expect.stringMatching(`^${name}-`) });
    await letGo(stand, await sandboxOf(id));
    await untilRuns(name, (runs) => {
      expect(runs).toHaveLength(2);
      expect(runs).toMatchObject([{ outcome: 'running' }, { id, outcome: 'completed' }]);
    });
    const { skipped, runs } = await readSchedule(stand.client, { deployment, name });
    expect(skipped).toBe(1);
    await letGo(stand, await sandboxOf(runs[0]?.id ?? ''));
  });

  it('cancels the last one first if the schedule says so, and that ends its sandbox', async ({ expect }) => {
    const name = newName();
    await put(name, { work: await job(name, untilGo), overlap: 'cancel-other' });
    const id = await startNow(name);
    const sandboxId = await sandboxOf(id);
    await runNow(name);
    expect(await resultOf(id)).toMatchObject({ outcome: 'cancelled', left: [] });
    expect((await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('archived');
    await untilRuns(name, (runs) => expect(runs).toMatchObject([{ outcome: 'running' }, { id, outcome: 'cancelled' }]));
    const { runs } = await readSchedule(stand.client, { deployment, name });
    await letGo(stand, await sandboxOf(runs[0]?.id ?? ''));
  });

  it('goes on after its schedule was removed', async ({ expect }) => {
    const name = newName();
    await put(name, { work: await job(name, untilGo) });
    const id = await startNow(name);
    const sandboxId = await sandboxOf(id);
    await changeSchedule(stand.client, 'remove', { deployment, name });
    await letGo(stand, sandboxId);
    expect(await resultOf(id)).toMatchObject({ outcome: 'completed' });
  });
});

it('is shown also if another program wrote its schedule, which is named as unreadable', async ({ expect }) => {
  const name = newName();
  const handle = await stand.client.schedule.create({
    scheduleId: scheduleId(deployment, name),
    spec: { intervals: [{ every: '1 day' }] },
    action: { type: 'startWorkflow', workflowType: 'other', workflowId: 'any', taskQueue: 'none', args: ['text'] },
  });
  await handle.trigger();
  const today = new Date().toISOString().slice(0, 8);
  await untilRuns(name, (runs) => expect(runs).toMatchObject([{ dueAt: expect.stringContaining(today) }]));
  const shown = await readSchedule(stand.client, { deployment, name });
  expect(shown).toMatchObject({ times: null, work: null, command: [], unreadable: { code: 'unreadable' } });
  await handle.delete();
});

async function runIdOf(id: string): Promise<string> {
  return (await stand.client.workflow.getHandle(jobWorkflowId(deployment, id)).describe()).runId;
}
