/** Escalations through lost answers, restarts, long histories and resets: each step acts once. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stopProgress } from '../../../../src/workflow-client/stops/read-stops.js';
import type { RequestedStop } from '../../../../src/workflow-client/stops/stop-client.js';
import { createIntercept, lost, refusal } from '../../../workflows/intercept.js';
import { callsOf, failingStop, healAtResume, steps } from '../../../workflows/stop/escalation-harness.js';
import { ask, heal, outcomeOf, signalEvent, stopWorkflow } from '../../../workflows/stop/stop-harness.js';
import { createStand, type Stand } from '../../../workflows/workflow-harness.js';

const intercept = createIntercept();
let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ through: intercept.through });
});
afterEach(async () => {
  intercept.clear();
  await heal(stand);
});
afterAll(() => stand.close());

const stops = (sandboxId: string) => stand.service.books.stops({ sandboxId });
const stateOf = async (sandboxId: string) => (await stand.api.getSandbox(sandboxId)).sandbox.state;
const archived = { outcome: 'archived', kept: 'saved', escalation: [{ state: 'done' }] };

describe('a lost answer', () => {
  it.each(['before', 'after'] as const)(
    'to the resume, %s it took effect, leads to one resume and one stop',
    async (when) => {
      intercept.on('resumeSandbox', async (call, count) => {
        if (count === 1 && when === 'before') throw lost('resumeSandbox');
        const answer = await call();
        await heal(stand);
        if (count === 1) throw lost('resumeSandbox');
        return answer;
      });
      const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
      expect(await outcomeOf(stand, requested)).toMatchObject(archived);
      expect(callsOf(stand, sandboxId, 'resumeSandbox')).toHaveLength(1);
      expect(stops(sandboxId)).toHaveLength(2);
    },
  );

  it('to the resume, and then refused reads, do not look like the resume of a person', async () => {
    intercept.on('resumeSandbox', async (call) => {
      await call();
      await heal(stand);
      await stand.fault({ kind: 'error', endpoint: 'getSandbox', status: 429, code: 'rate_limited', times: 2 });
      throw lost('resumeSandbox');
    });
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    expect(await outcomeOf(stand, requested)).toMatchObject(archived);
    expect(stops(sandboxId)).toHaveLength(2);
  });

  it('to the stop after the resume leads to one stop', async () => {
    healAtResume(stand, intercept);
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    intercept.on('stopSandbox', async (call, count) => {
      const answer = await call();
      if (count === 1) throw lost('stopSandbox');
      return answer;
    });
    expect(await outcomeOf(stand, requested)).toMatchObject(archived);
    expect(stops(sandboxId)).toHaveLength(2);
  });

  it('to the deletion leads to one deletion, and to the outcome `deleted`', async () => {
    intercept.on('deleteSandbox', async (call) => {
      await call();
      throw lost('stopSandbox');
    });
    const { sandboxId, requested } = await failingStop(stand, steps('1s: delete'));
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'deleted', escalation: [{ state: 'done' }] });
    expect(callsOf(stand, sandboxId, 'deleteSandbox')).toHaveLength(1);
  });

  it('of a service that stays away is retried while the stop goes on failing', async () => {
    intercept.on('resumeSandbox', async (call, count) => {
      if (count <= 2) throw refusal('resumeSandbox', { status: 503, code: 'bad_gateway', typed: false });
      const answer = await call();
      await heal(stand);
      return answer;
    });
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    expect(await outcomeOf(stand, requested)).toMatchObject(archived);
    expect(stops(sandboxId)).toHaveLength(2);
  });
});

it('a read that is older than the resume does not end or unbind the next stop', async () => {
  healAtResume(stand, intercept);
  const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
  await expect.poll(async () => (await stopProgress(stand.client, requested)).status).toBe('failing');
  const old = await stand.api.getSandbox(sandboxId);
  let lagging = 0;
  intercept.on('getSandbox', (call) => {
    if (callsOf(stand, sandboxId, 'resumeSandbox').length === 0 || lagging >= 4) return call();
    lagging += 1;
    return Promise.resolve(old);
  });
  expect(await outcomeOf(stand, requested)).toMatchObject({ ...archived, stopId: stops(sandboxId)[1]?.id });
  expect(lagging).toBe(4);
});

it('a request whose stop was read before the resume, and told after it, goes on with the next stop', async () => {
  const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
  let tell: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  let late: Promise<RequestedStop> | undefined;
  intercept.on('resumeSandbox', async (call) => {
    await new Promise<void>((resolve) => {
      intercept.on('getSandbox', async (read, count) => {
        const answer = await read();
        resolve();
        if (count === 1) await told;
        return answer;
      });
      late = ask(stand, { sandboxId });
    });
    const answer = await call();
    await heal(stand);
    return answer;
  });
  await expect
    .poll(async () => (await stopProgress(stand.client, requested)).escalation)
    .toMatchObject([{ state: 'done' }]);
  tell();
  expect(late && (await outcomeOf(stand, await late))).toMatchObject({ outcome: 'archived' });
  expect(await outcomeOf(stand, requested)).toMatchObject(archived);
  expect(stops(sandboxId)).toHaveLength(2);
});

describe('a step', () => {
  it('that was taken is not repeated by the next runs of the workflow', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop, 2s: notify'), {
      maxMessages: 12,
    });
    const newestRun = async () => (await stopWorkflow(stand, sandboxId).describe()).runId;
    const ended = async () => (await stopProgress(stand.client, requested)).escalation.map(({ state }) => state);
    await expect.poll(ended).toEqual(['done', 'done']);
    const run = await newestRun();
    for (let number = 1; number <= 12; number += 1)
      await signalEvent(stand, sandboxId, { id: `evt_${number}`, type: 'sandbox.archived' });
    await expect.poll(newestRun).not.toBe(run);
    await heal(stand);
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
    expect(callsOf(stand, sandboxId, 'resumeSandbox')).toHaveLength(1);
    expect(stops(sandboxId)).toHaveLength(2);
  });

  it('goes on in another worker when its own one shuts down in the middle of the call', async () => {
    let restarted: Promise<void> | undefined;
    intercept.on('resumeSandbox', async (call, count) => {
      const answer = await call();
      await heal(stand);
      if (count > 1) return answer;
      restarted = stand.restartWorker();
      throw lost('resumeSandbox');
    });
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    await expect.poll(() => restarted !== undefined).toBe(true);
    await restarted;
    expect(await outcomeOf(stand, requested)).toMatchObject(archived);
    expect(stops(sandboxId)).toHaveLength(2);
  });

  it('is not repeated after a reset to a point before it', async () => {
    healAtResume(stand, intercept);
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    await outcomeOf(stand, requested);
    const handle = stopWorkflow(stand, sandboxId);
    const { events } = await handle.fetchHistory();
    const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
    await stand.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: handle.workflowId },
      workflowTaskFinishEventId: tasks[2]?.eventId,
      reason: 'test',
      requestId: randomUUID(),
    });
    await stopWorkflow(stand, sandboxId).result();
    expect(callsOf(stand, sandboxId, 'resumeSandbox')).toHaveLength(1);
    expect(await stateOf(sandboxId)).toBe('archived');
  });
});
