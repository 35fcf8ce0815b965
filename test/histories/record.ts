/** Records one history of each outcome. Not a test: run it before a change of the workflows, and keep the old ones. */
import { progressOf } from '../workflows/job-progress.js';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../../src/config.js';
import type { FaultInput } from '../../local-service/src/index.js';
import { findTemporalServer } from '../../src/temporal-server/find.js';
import type { StopOptions } from '../../src/workflow-client/stops/stop-input.js';
import { itemWorkflowId, jobWorkflowId } from '../../src/addresses/addresses.js';
import { chunkWorkflowId } from '../../src/addresses/fanout-addresses.js';
import { cancelFanout, fanoutProgress } from '../../src/workflow-client/fanouts/fanout-client.js';
import { scheduleId } from '../../src/addresses/schedule-addresses.js';
import { readSchedule } from '../../src/workflow-client/schedules/read-schedules.js';
import { runScheduleNow } from '../../src/workflow-client/schedules/run-now.js';
import { putSchedule } from '../../src/workflow-client/schedules/schedule-client.js';
import { scheduledBatch } from '../../src/workflow-client/schedules/scheduled-work.js';
import { resumeFanout } from '../../src/workflow-client/fanouts/resume-fanout.js';
import { type JobInput, type JobOutcome, resolveUpdate, type StopOutcome } from '../../workflows/index.js';
import { archived, begin, policyFor, ready } from '../workflows/cleanup/cleanup-harness.js';
import {
  archivedSandbox,
  ended,
  fanoutInput,
  items,
  promptedForks,
  run,
  source,
  submit,
} from '../workflows/fanout/fanout-harness.js';
import { deliveriesOf } from '../workflows/notification/listener.js';
import { createStand, letGo, type Stand, script, shortTiming, untilGo } from '../workflows/workflow-harness.js';
import { ask, heal, outcomeOf, readySandbox, stopWorkflow } from '../workflows/stop/stop-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const long = [{ prompt: script('sleep 60') }];
const page: FaultInput = { kind: 'error', endpoint: 'sendPrompt', status: 502, html: true };
const recordings: [JobOutcome, Partial<JobInput>, FaultInput[]][] = [
  ['completed', {}, []],
  ['unverified', { checks: ['date +%s.%N; false'], rounds: 5, checkPrompt: script('true') }, []],
  ['prompt_failed', { prompts: [{ prompt: script('exit 3') }], collect: ['note'] }, []],
  ['sandbox_failed', { timing: { errorGraceMs: 500 } }, [{ kind: 'boot_error' }]],
  ['sandbox_cancelled', { maxGenerations: 2 }, [{ kind: 'create_cancelled', times: 2 }]],
  ['rejected', { prompts: [{ prompt: 'hi', provider: 'nobody' }] }, []],
  ['deadline_exceeded', { prompts: long, deadlineMs: 2_000, end: 'delete' }, []],
  ['cancelled', { prompts: long }, []],
  ['outcome_unknown', { onUnknownOutcome: 'abandon' }, [page]],
];

it.each(recordings)('records %s', async (outcome, input, faults) => {
  for (const fault of faults) await stand.fault(fault);
  const handle = await stand.start(input);
  if (outcome === 'cancelled') {
    await expect.poll(async () => (await progressOf(handle)).phase, { timeout: 20_000 }).toBe('following');
    await handle.cancel();
  }
  expect((await handle.result()).outcome).toBe(outcome);
  await save(outcome, handle.workflowId);
});

describe('a prompt that was handed over', () => {
  let handsOver: Stand;
  beforeAll(async () => {
    handsOver = await createStand({ worker: { follow: { minIntervalMs: 100, briefFollowMs: 1, youngFollowMs: 1 } } });
  });
  afterAll(() => handsOver.close());

  it.each([
    ['handed-over', { ttlSeconds: 4 }],
    ['handed-over-without-auto-stop', { ttlSeconds: null }],
  ])('records looks at it: %s', async (name, over) => {
    const prompts = [{ prompt: script(`${untilGo}; echo done`) }];
    const handle = await handsOver.start({ prompts, timing: { ...shortTiming, promptPollMaxMs: 2_000 }, ...over });
    const looks = async () =>
      ((await handle.fetchHistory()).events ?? []).filter(
        ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'followPrompt',
      ).length;
    await expect.poll(looks, { timeout: 60_000 }).toBeGreaterThan(5);
    await letGo(handsOver, (await progressOf(handle)).sandboxId);
    expect((await handle.result()).outcome).toBe('completed');
    await save(name, handle.workflowId);
  });
});

it('records a watch', async () => {
  const { sandbox } = await stand.api.createSandbox({ name: 'by hand' });
  await expect.poll(async () => (await stand.api.getSandbox(sandbox.id)).sandbox.state).toBe('ready');
  await stand.api.stopSandbox(sandbox.id);
  await expect.poll(async () => (await stand.api.getSandbox(sandbox.id)).sandbox.state).toBe('archived');
  const handle = await stand.start({ source: { kind: 'existing', sandboxId: sandbox.id }, end: 'stop' });
  expect((await handle.result()).outcome).toBe('completed');
  await save('completed-existing', handle.workflowId);
  const watch = stand.client.workflow.getHandle(`sandbox-watch/${sandbox.id}`);
  await watch.result();
  await save('watch', watch.workflowId);
});

const failing: FaultInput = { kind: 'stop_fails', times: 1_000 };
const refused: FaultInput = { kind: 'error', endpoint: 'stopSandbox', status: 403, code: 'forbidden' };
const stops: [StopOutcome, Partial<StopOptions>, FaultInput[]][] = [
  ['archived', { alertAfterMs: 300 }, [{ kind: 'stop_fails', times: 8 }]],
  ['already_archived', {}, []],
  ['superseded', {}, [failing]],
  ['gone', { sandboxId: 'bx_2a2a2a2a' }, []],
  ['still_failing', { deadlineMs: 1_500 }, [failing]],
  ['rejected', {}, [refused]],
];

it.each(stops)('records a stop that is %s', async (outcome, options, faults) => {
  const sandboxId = options.sandboxId ?? (await readySandbox(stand));
  if (outcome === 'already_archived') await outcomeOf(stand, await ask(stand, { sandboxId }));
  for (const fault of faults) await stand.fault(fault);
  // It answers with 404, and a failed notification ends nothing.
  const notify = { url: `${stand.bridgeUrl}/nobody` };
  const requested = await ask(stand, { sandboxId, notify, ...options });
  if (outcome === 'superseded') await stand.api.resumeSandbox(sandboxId, {});
  expect((await outcomeOf(stand, requested)).outcome).toBe(outcome);
  await stopWorkflow(stand, sandboxId).result();
  await save(`stop_${outcome}`, stopWorkflow(stand, sandboxId).workflowId);
  await heal(stand);
});

it('records two runs of a stop with three callers', async () => {
  const sandboxId = await readySandbox(stand);
  await stand.fault({ kind: 'stop_fails', times: 12 });
  const callers = ['a', 'b', 'c'].map((requestId) => ask(stand, { sandboxId, requestId, maxHistoryEvents: 25 }));
  const [first, ...others] = await Promise.all(callers);
  for (const one of [first, ...others]) expect(one && (await outcomeOf(stand, one)).outcome).toBe('archived');
  const { workflowId } = stopWorkflow(stand, sandboxId);
  await stopWorkflow(stand, sandboxId).result();
  await save('stop-first-run', workflowId, first?.runId);
  await save('stop-last-run', workflowId);
});

it('records a cleanup that continues as new, and one that stops', async () => {
  const old = await archived(stand, 'old-1');
  await archived(stand, 'old-2');
  await ready(stand, 'old-3');
  await stand.fault({ kind: 'error', endpoint: 'deleteSandbox', status: 403, code: 'api_key_action_forbidden' });
  const policy = policyFor('old', 'delete-sandbox', 'protect: [golden-*]\nprotectMayMatchNothing: true');
  const handle = await begin(stand, policy, { chunkSize: 1, maxHistoryEvents: 15 });
  const { raw } = await handle.describe();
  expect((await handle.result()).counts).toMatchObject({ failed: 1, deleted: 1 });
  await save('cleanup-first-run', handle.workflowId, raw.workflowExecutionInfo?.firstRunId ?? '');
  await save('cleanup', handle.workflowId);
  expect((await stand.api.listSandboxes()).sandboxes.some(({ id }) => id === old)).toBe(true);
  const stops = await begin(stand, policyFor('old', 'stop'));
  expect((await stops.result()).counts.stopped).toBe(1);
  await save('cleanup-stops', stops.workflowId);
});

it('records items of a batch: one is throttled and continues as its next generation, and one is cancelled', async () => {
  const of = source(await archivedSandbox(stand));
  await stand.fault({ kind: 'error', endpoint: 'forkSandbox', status: 429, code: 'rate_limited' });
  await stand.fault({ kind: 'create_cancelled' });
  const throttled = fanoutInput(of);
  const { deployment, batchId } = throttled;
  expect((await run(stand, throttled, items(1))).outcome).toBe('completed');
  await save('item-completed', itemWorkflowId(deployment, batchId, 0));
  const cancelled = await submit(
    stand,
    fanoutInput(of, { policy: { end: 'stop' } }),
    items(1, () => 'sleep 60'),
  );
  await expect.poll(() => promptedForks(stand, cancelled), { timeout: 20_000 }).toHaveLength(1);
  await cancelFanout(stand.client, cancelled);
  expect((await ended(stand, cancelled)).outcome).toBe('cancelled');
  await save('item-cancelled', itemWorkflowId(deployment, cancelled.batchId, 0));
});

it('records a fan-out', async () => {
  const input = fanoutInput(source(await archivedSandbox(stand)), {
    policy: { concurrency: 2, retries: 1, budgetSeconds: 10_000 },
  });
  const commands = ['echo hello', 'exit 3', 'echo once more'];
  expect(await run(stand, input, items(3, (at) => commands[at] ?? ''))).toMatchObject({ outcome: 'partly_failed' });
  const { deployment, batchId } = input;
  await save('fanout-batch', jobWorkflowId(deployment, batchId));
  await save('fanout-chunk', chunkWorkflowId(deployment, batchId, 0));
});

it('records a fan-out from a prepared source that is cancelled and resumed', async () => {
  const preparation = { body: {}, put: [], commands: ['date > made'], prompts: [], deadlineMs: 60_000 } as const;
  const input = fanoutInput({ kind: 'prepare', ...preparation, end: 'stop' }, { policy: { concurrency: 2 } });
  await submit(stand, input, items(3, (at) => (at === 0 ? 'echo hello' : 'sleep 5')));
  const progress = () => fanoutProgress(stand.client, input);
  await expect.poll(async () => (await progress()).counts.completed, { timeout: 30_000 }).toBe(1);
  await cancelFanout(stand.client, input);
  expect(await ended(stand, input)).toMatchObject({ outcome: 'cancelled' });
  const { deployment, batchId } = input;
  await save('fanout-batch-cancelled', jobWorkflowId(deployment, batchId));
  await save('fanout-chunk-cancelled', chunkWorkflowId(deployment, batchId, 0));
  await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
  expect(await ended(stand, input)).toMatchObject({ outcome: 'completed' });
  await save('fanout-batch-resumed', jobWorkflowId(deployment, batchId));
  await save('fanout-chunk-resumed', chunkWorkflowId(deployment, batchId, 0));
});

it('records a job that notifies when it is blocked and when it ends, a batch that notifies, and a delivery', async () => {
  // It answers with 404, which is retried.
  const notify = { url: `${stand.bridgeUrl}/nobody` };
  await stand.fault(page);
  const handle = await stand.start({ notify });
  await expect.poll(async () => (await progressOf(handle)).blocked, { timeout: 20_000 }).not.toBeNull();
  await handle.executeUpdate(resolveUpdate, { args: [{ action: 'abandon' }] });
  await handle.result();
  await save('told-apart-job', handle.workflowId);
  const input = fanoutInput(source(await archivedSandbox(stand)), { notify });
  expect((await run(stand, input, items(1))).outcome).toBe('completed');
  await save('told-apart-batch', jobWorkflowId(input.deployment, input.batchId));
  const other = await stand.start({ notify });
  await other.result();
  const [delivery] = await deliveriesOf(stand, other.workflowId, 1);
  await delivery?.terminate();
  await save('delivery', delivery?.workflowId ?? '');
});

/** Histories contain no user name and no path of the recording machine. */
async function save(name: string, workflowId: string, runId?: string): Promise<void> {
  const binary = await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory });
  const run = runId === undefined ? [] : ['--run-id', runId];
  const show = ['workflow', 'show', '--workflow-id', workflowId, ...run, '--output', 'json'];
  const { stdout } = await promisify(execFile)(binary, [...show, '--address', inject('temporalAddress')], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const file = fileURLToPath(new URL(`${name}.json`, import.meta.url));
  const clean = JSON.stringify(
    JSON.parse(stdout),
    (key, value) => (key === 'stackTrace' ? '' : key === 'identity' ? 'recorder' : value),
    1,
  );
  await writeFile(file, `${clean}\n`);
}

it('records a run of a schedule', async () => {
  const { batchId: name, ...input } = fanoutInput(source(await archivedSandbox(stand)));
  const short = name.slice(0, 10);
  const work = await scheduledBatch(stand.client, input, items(1), { schedule: short, results: stand.results });
  const schedule = { deployment: input.deployment, name: short };
  const times = { cron: '0 0 1 1 *', zone: 'UTC' };
  await putSchedule(stand.client, { ...schedule, taskQueue: stand.taskQueue, work, times });
  const run = await runScheduleNow(stand.client, schedule);
  if (run.kind !== 'started') throw new Error(`The run is ${run.kind}.`);
  const newest = async () => (await readSchedule(stand.client, schedule)).lastRun?.outcome;
  await expect.poll(newest, { timeout: 30_000 }).toBe('completed');
  const { info } = await stand.client.schedule.getHandle(scheduleId(schedule.deployment, short)).describe();
  await save('scheduled-run', info.recentActions[0]?.action.workflow.workflowId ?? '');
});
