/**
 * Jobs and batches that wait for the end of a stop that goes on failing, while its escalation yields to leases. Extended:
 * `test/workflows/stop/command.test.ts` has the promise. It costs 20 CPU seconds.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sweepPolicy } from '../../../../src/retention/index.js';
import { startCleanup } from '../../../../src/workflow-client/cleanups/cleanup-client.js';
import { stopProgress } from '../../../../src/workflow-client/stops/read-stops.js';
import type { RequestedStop } from '../../../../src/workflow-client/stops/stop-client.js';
import { begin, cleaned, policyFor } from '../../../workflows/cleanup/cleanup-harness.js';
import { ended, fanoutInput, items, source, submit } from '../../../workflows/fanout/fanout-harness.js';
import { createIntercept } from '../../../workflows/intercept.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { callsOf, failing, failingStop, healAtResume, steps } from '../../../workflows/stop/escalation-harness.js';
import { ask, heal, outcomeOf, readySandbox } from '../../../workflows/stop/stop-harness.js';
import { claimAs } from '../../../workflows/watch/lease-harness.js';
import {
  createStand,
  deployment,
  letGo,
  type Stand,
  script,
  shortTiming,
  untilGo,
  withoutPolls,
} from '../../../workflows/workflow-harness.js';

const intercept = createIntercept();
let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ through: intercept.through, worker: { forksPerSecond: 1_000 } });
});
afterEach(async () => {
  intercept.clear();
  await heal(stand);
});
afterAll(() => stand.close());

const view = (requested: RequestedStop) => stopProgress(stand.client, requested);
const stateOf = async (sandboxId: string) => (await stand.api.getSandbox(sandboxId)).sandbox.state;
const isFailing = (requested: RequestedStop) => expect.poll(async () => (await view(requested)).status).toBe('failing');
const leaseHolders = async (sandboxId: string) => (await claimAs(stand, sandboxId, 'somebody', 1)).leasedBy;
type Over = Parameters<Stand['start']>[0];
const startIn = (sandboxId: string, over: Over = {}) =>
  stand.start({ source: { kind: 'existing', sandboxId }, end: 'keep', ...over });
const awaited = async (job: Awaited<ReturnType<Stand['start']>>) => (await progressOf(job)).awaitedStop?.stopId;

describe('a job that starts while a stop goes on failing', () => {
  it.each([
    ['before an attempt has failed', false, {}],
    ['after an attempt has failed', true, {}],
    ['and renews its lease meanwhile', true, { timing: { ...shortTiming, renewLeaseEveryMs: 100 } }],
    ['and continues as new meanwhile', true, { maxHistoryEvents: 30 }],
    ['and stops the sandbox at its end', true, { end: 'stop' }],
  ] as const)('%s: the sandbox is resumed and stopped, and then the job works in it', async (_, isLate, over) => {
    healAtResume(stand, intercept);
    const { sandboxId, requested } = await failingStop(stand, steps('3s: resume-and-stop'));
    if (isLate) await isFailing(requested);
    const job = await startIn(sandboxId, over);
    await expect.poll(() => awaited(job)).toBe(requested.accepted.stopId);
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', escalation: [{ state: 'done' }] });
    expect(await job.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }], left: [] });
    expect(callsOf(stand, sandboxId, 'resumeSandbox')).toHaveLength(2);
    const { runId } = await stand.client.workflow.getHandle(job.workflowId).describe();
    expect(runId !== job.firstExecutionRunId).toBe('maxHistoryEvents' in over);
  });

  it('is one of two: both work in it', async () => {
    healAtResume(stand, intercept);
    const { sandboxId, requested } = await failingStop(stand, steps('3s: resume-and-stop'));
    const jobs = [await startIn(sandboxId), await startIn(sandboxId)];
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
    for (const job of jobs) expect(await job.result()).toMatchObject({ outcome: 'completed', left: [] });
  });

  it('keeps the sandbox from being deleted as long as it waits, and no longer', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('2s: delete'));
    const job = await startIn(sandboxId);
    await expect.poll(async () => (await view(requested)).escalation[0]?.why).toContain(job.workflowId);
    await job.cancel();
    expect(await job.result()).toMatchObject({ outcome: 'cancelled' });
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'deleted', escalation: [{ state: 'done' }] });
  });

  it('and does not end until its deadline: its error names the stop', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('1s: notify'));
    const job = await startIn(sandboxId, { deadlineMs: 4_000 });
    const { outcome, error } = await job.result();
    expect({ outcome, message: error?.message }).toEqual({
      outcome: 'deadline_exceeded',
      message: expect.stringContaining(`it was waiting: the stop ${requested.accepted.stopId} is failing`),
    });
    expect((await view(requested)).escalation).toMatchObject([{ state: 'done' }]);
  });

  it('works in it if a person resumes it, whose stop then ends', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('5m: resume-and-stop'));
    const job = await startIn(sandboxId);
    await expect.poll(() => awaited(job)).toBe(requested.accepted.stopId);
    await stand.api.resumeSandbox(sandboxId, {});
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'superseded' });
  });
});

it('a job that works in the sandbox before the stop holds its escalation back until it has ended', async () => {
  healAtResume(stand, intercept);
  const sandboxId = await readySandbox(stand);
  const job = await startIn(sandboxId, { prompts: [{ prompt: script(untilGo) }] });
  await expect.poll(() => stateOf(sandboxId)).toBe('running');
  await failing(stand);
  const requested = await ask(stand, { sandboxId, escalate: steps('1s: resume-and-stop') });
  const { outcome, left } = await job.result();
  expect({ outcome, left }).toEqual({ outcome: 'sandbox_failed', left: [] });
  expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', escalation: [{ state: 'done' }] });
});

it('a sweep escalates a stop that nobody but a job waits for', async () => {
  healAtResume(stand, intercept);
  const sandboxId = await readySandbox(stand);
  await failing(stand);
  await stand.api.stopSandbox(sandboxId);
  const job = await startIn(sandboxId);
  const isFailing = async () => (await progressOf(job)).awaitedStop?.status;
  await expect.poll(isFailing).toBe('failing');
  const handle = await startCleanup(stand.client, {
    ...{ deployment, taskQueue: stand.taskQueue, mode: 'apply', settings: { settleMs: 0, timing: shortTiming } },
    policy: sweepPolicy({ escalate: steps('1s: resume-and-stop'), failingForMs: 1, name: 'sweep' }),
  });
  const { of } = await cleaned(stand, await handle.result());
  // `escalating` if the step was not due yet.
  expect(['stopped', 'escalating']).toContain(of(sandboxId));
  expect(await job.result()).toMatchObject({ outcome: 'completed' });
});

describe('a stop that goes on failing is resumed and stopped again while its sandbox is being stopped by', () => {
  /** Its own end of the wait comes long after the step. */
  const timing = { ...shortTiming, cleanUpMs: 3_600_000 };
  const isStopping = (sandboxId: string) => expect.poll(() => stateOf(sandboxId)).toBe('archiving');
  const escalated = async (sandboxId: string) => {
    const requested = await ask(stand, { sandboxId, escalate: steps('1s: resume-and-stop') });
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', escalation: [{ state: 'done' }] });
  };

  it('a job that waited for this stop and was cancelled', async () => {
    healAtResume(stand, intercept);
    const { sandboxId, requested } = await failingStop(stand, steps('5s: resume-and-stop'));
    const job = await startIn(sandboxId, { end: 'stop', timing });
    await expect.poll(() => awaited(job)).toBe(requested.accepted.stopId);
    await job.cancel();
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', escalation: [{ state: 'done' }] });
    expect(await job.result()).toMatchObject({ outcome: 'cancelled', stop: { status: 'completed' }, left: [] });
  });

  it.each([
    ['a job that has worked in it', false],
    ['a job whose own sandbox was renamed', true],
  ])('%s', async (_, isOwn) => {
    const prompts = [{ prompt: script(untilGo) }];
    const over = { prompts, end: 'stop', timing, ttlSeconds: 2 } as const;
    const job = isOwn ? await stand.start(over) : await startIn(await readySandbox(stand), over);
    await expect.poll(async () => (await progressOf(job)).phase).toBe('following');
    const sandboxId = (await progressOf(job)).sandboxId ?? '';
    if (isOwn) {
      await stand.api.updateSandbox(sandboxId, { name: 'renamed by hand' });
      await expect.poll(() => leaseHolders(sandboxId)).toEqual([job.workflowId]);
    }
    await failing(stand);
    await letGo(stand, sandboxId);
    await isStopping(sandboxId);
    healAtResume(stand, intercept);
    await escalated(sandboxId);
    expect(await job.result()).toMatchObject({ outcome: 'completed', stop: { status: 'completed' }, left: [] });
  });

  it('a batch whose source it is', async () => {
    const sandboxId = await readySandbox(stand);
    await failing(stand);
    const input = await submit(stand, fanoutInput(source(sandboxId)), items(1));
    await isStopping(sandboxId);
    healAtResume(stand, intercept);
    await escalated(sandboxId);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { completed: 1 } });
  });

  it('a cleanup, which an event tells of the end', async () => {
    const sandboxId = await readySandbox(stand, { name: 'stopped-at-night' });
    await failing(stand);
    const handle = await begin(stand, policyFor('stopped', 'stop'), { timing: withoutPolls });
    await isStopping(sandboxId);
    healAtResume(stand, intercept);
    await escalated(sandboxId);
    const { of } = await cleaned(stand, await handle.result());
    // The service calls a stop superseded that a resume has ended.
    expect(of(sandboxId)).toBe('failed');
  });
});

it('a batch that waits for the stop of its source holds no escalation back', async () => {
  healAtResume(stand, intercept);
  const { sandboxId, requested } = await failingStop(stand, steps('3s: resume-and-stop'));
  const input = await submit(stand, fanoutInput(source(sandboxId)), items(1));
  expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', escalation: [{ state: 'done' }] });
  expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { completed: 1 } });
});
