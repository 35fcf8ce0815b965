/** Escalations of failing stops: what each step does, to whom it yields, and that it acts once. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stopProgress } from '../../../../src/workflow-client/stops/read-stops.js';
import type { RequestedStop } from '../../../../src/workflow-client/stops/stop-client.js';
import { type HoldAnswer, watchUnregisterSignal } from '../../../../workflows/index.js';
import { createIntercept } from '../../../workflows/intercept.js';
import { openListener } from '../../../workflows/notification/listener.js';
import { callsOf, failing, failingStop, healAtResume, steps } from '../../../workflows/stop/escalation-harness.js';
import { ask, heal, outcomeOf, readySandbox, stopWorkflow } from '../../../workflows/stop/stop-harness.js';
import { claimAs, leaseAs, releaseAs, watchOf } from '../../../workflows/watch/lease-harness.js';
import { createStand, type Stand, script } from '../../../workflows/workflow-harness.js';

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
const calls = (sandboxId: string, endpoint: string) => callsOf(stand, sandboxId, endpoint);
const stateOf = async (sandboxId: string) => (await stand.api.getSandbox(sandboxId)).sandbox.state;
const view = (requested: RequestedStop) => stopProgress(stand.client, requested);

describe('resume-and-stop', () => {
  it('ends a stop that goes on failing, and the next stop ends the request', async () => {
    healAtResume(stand, intercept);
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    const ended = await outcomeOf(stand, requested);
    const [first, second] = stops(sandboxId);
    expect(first?.status).toBe('superseded');
    expect(ended).toMatchObject({
      outcome: 'archived',
      kept: 'saved',
      stopId: second?.id,
      escalation: [{ action: 'resume-and-stop', state: 'done', endedStopId: first?.id, why: null }],
    });
    expect(ended.escalation[0]?.atRisk).toBe('It has no snapshot: none of its work is saved. The resume may lose it.');
    expect(await stateOf(sandboxId)).toBe('archived');
    expect(calls(sandboxId, 'resumeSandbox')).toHaveLength(1);
    expect(stops(sandboxId)).toHaveLength(2);
  });

  it('comes once for all requests that wait for the same stop', async () => {
    healAtResume(stand, intercept);
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    const others = [
      await ask(stand, { sandboxId, requestId: 'same', escalate: steps('2s: resume-and-stop') }),
      await ask(stand, { sandboxId, requestId: 'plain' }),
    ];
    const ended = await Promise.all([requested, ...others].map((one) => outcomeOf(stand, one)));
    expect(ended.map(({ outcome }) => outcome)).toEqual(['archived', 'archived', 'archived']);
    expect(ended[1]?.escalation).toMatchObject([{ state: 'done', why: `the request ${requested.requestId} did it` }]);
    expect(calls(sandboxId, 'resumeSandbox')).toHaveLength(1);
    expect(stops(sandboxId)).toHaveLength(2);
  });

  it('is left to a person who has resumed the sandbox', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('3s: resume-and-stop'));
    await stand.api.resumeSandbox(sandboxId, {});
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'superseded' });
    expect(calls(sandboxId, 'resumeSandbox')).toHaveLength(1);
    expect(stops(sandboxId)).toHaveLength(1);
  });

  it('does not stop a sandbox in which an agent works since the resume', async () => {
    intercept.on('resumeSandbox', async (call, _, [sandboxId]) => {
      const answer = await call();
      await heal(stand);
      await expect.poll(() => stateOf(String(sandboxId))).toBe('ready');
      await stand.api.sendPrompt(String(sandboxId), { prompt: script('sleep 600') });
      await expect.poll(() => stateOf(String(sandboxId))).toBe('running');
      return answer;
    });
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'superseded', escalation: [{ state: 'done' }] });
    expect(await stateOf(sandboxId)).toBe('running');
    expect(stops(sandboxId)).toHaveLength(1);
  });

  it('waits while somebody leases the sandbox to work in it, and the step says who', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('2s: resume-and-stop'));
    healAtResume(stand, intercept);
    await leaseAs(stand, sandboxId, 'another-job');
    const why = async () => (await view(requested)).escalation[0]?.why;
    await expect.poll(why).toBe('the sandbox is leased by another-job');
    expect(calls(sandboxId, 'resumeSandbox')).toHaveLength(0);
    await watchOf(stand, sandboxId).signal(watchUnregisterSignal, { workflowId: 'another-job' });
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', escalation: [{ state: 'done' }] });
  });

  it('is left if somebody leases the sandbox until the next step is due', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('2s: resume-and-stop, 3s: notify'));
    await leaseAs(stand, sandboxId, 'another-job');
    await expect
      .poll(async () => (await view(requested)).escalation)
      .toMatchObject([{ state: 'left', why: 'the sandbox is leased by another-job' }, { state: 'done' }]);
    await heal(stand);
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
    expect(calls(sandboxId, 'resumeSandbox')).toHaveLength(0);
  });

  it('waits while somebody has claimed the sandbox', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('2s: resume-and-stop'));
    healAtResume(stand, intercept);
    await claimAs(stand, sandboxId, 'a-cleanup', 600_000);
    await expect.poll(async () => (await view(requested)).escalation[0]?.why).toContain('a-cleanup holds the sandbox');
    expect(calls(sandboxId, 'resumeSandbox')).toHaveLength(0);
    await releaseAs(stand, sandboxId, 'a-cleanup');
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', escalation: [{ state: 'done' }] });
  });

  it('keeps jobs out of the sandbox until the next stop is accepted, and then lets them in', async () => {
    let during: HoldAnswer | undefined;
    intercept.on('resumeSandbox', async (call, _, [sandboxId]) => {
      during = await leaseAs(stand, String(sandboxId), 'another-job');
      await heal(stand);
      return call();
    });
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
    expect(during).toMatchObject({ granted: false, claimedBy: [`sandbox-stop/${sandboxId}`] });
    await expect.poll(async () => (await leaseAs(stand, sandboxId, 'another-job')).granted).toBe(true);
  });

  it('that the service refuses for good is left with the reason, and the request goes on', async () => {
    await stand.fault({
      kind: 'error',
      endpoint: 'resumeSandbox',
      status: 409,
      code: 'snapshot_data_expired',
      times: 100,
    });
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    await expect.poll(async () => (await view(requested)).escalation[0]?.state).toBe('left');
    await heal(stand);
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
    expect(stops(sandboxId)).toHaveLength(1);
  });

  it('is followed by its stop although the workflow is cancelled in between', async () => {
    intercept.on('resumeSandbox', async (call, _, [sandboxId]) => {
      await stopWorkflow(stand, String(sandboxId)).cancel();
      await heal(stand);
      return call();
    });
    const { sandboxId, requested } = await failingStop(stand, steps('1s: resume-and-stop'));
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'cancelled', stopId: stops(sandboxId)[1]?.id });
    await expect.poll(() => stateOf(sandboxId)).toBe('archived');
  });
});

describe('delete', () => {
  it('deletes the sandbox, follows the deletion, and names it in the outcome', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('1s: delete'));
    const ended = await outcomeOf(stand, requested);
    expect(ended).toMatchObject({ outcome: 'deleted', error: null, escalation: [{ state: 'done', why: null }] });
    expect(ended.escalation[0]?.atRisk).toContain('The deletion takes the sandbox and its snapshots.');
    const { operation } = await stand.api.getDeletionOperation(ended.escalation[0]?.operationId ?? '');
    expect(operation).toMatchObject({ status: 'completed' });
    expect(calls(sandboxId, 'deleteSandbox')).toHaveLength(1);
  });

  it.each(['work', 'fork'] as const)('waits while somebody leases the sandbox to %s', async (use) => {
    const { sandboxId, requested } = await failingStop(stand, steps('2s: delete'));
    await leaseAs(stand, sandboxId, 'another-job', { use });
    const step = async () => (await view(requested)).escalation[0];
    await expect.poll(async () => (await step())?.why).toBe('the sandbox is leased by another-job');
    expect((await step())?.state).toBe('announced');
    await heal(stand);
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
    expect(calls(sandboxId, 'deleteSandbox')).toHaveLength(0);
  });

  it('does not delete a sandbox that a person resumes between the check of the stop and the step', async () => {
    const { sandboxId, requested } = await failingStop(stand, steps('2s: delete'));
    const old = await stand.api.getSandbox(sandboxId);
    await expect.poll(async () => (await view(requested)).status).toBe('failing');
    const shown = { ...old, sandbox: { ...old.sandbox, stop: { ...old.sandbox.stop, status: 'failing' } } };
    let isResumed = false;
    intercept.on('getSandbox', async (call) => {
      if (isResumed || Date.now() - Date.parse(stops(sandboxId)[0]?.requestedAt ?? '') < 2_000) return call();
      isResumed = true;
      await stand.api.resumeSandbox(sandboxId, {});
      return shown;
    });
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'superseded' });
    expect(calls(sandboxId, 'deleteSandbox')).toHaveLength(0);
  });
});

describe('notify', () => {
  it('tells once, changes nothing, and is told apart from the end', async () => {
    const listener = await openListener();
    const sandboxId = await readySandbox(stand);
    await failing(stand);
    const notify = { url: listener.url };
    const requested = await ask(stand, { sandboxId, escalate: steps('1s: notify, 2s: notify'), notify });
    await expect.poll(() => listener.told.length).toBe(2);
    await heal(stand);
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
    await expect.poll(() => listener.told.length).toBe(3);
    await listener.close();
    const told = listener.told.map(({ body }) => JSON.parse(body));
    expect(told.map(({ event }) => event).sort()).toEqual(['ended', 'stop_escalating', 'stop_escalating']);
    expect(told.filter(({ message }) => message?.startsWith('The step "1s: notify" is due. The stop '))).toHaveLength(
      1,
    );
    expect(stops(sandboxId)).toHaveLength(1);
  });
});

describe('an announcement', () => {
  it('is sent before the step acts, and says what may be lost', async () => {
    const listener = await openListener();
    let toldBefore: string | undefined;
    intercept.on('resumeSandbox', async (call) => {
      await expect.poll(() => listener.told.length).toBe(1);
      toldBefore = listener.told[0]?.body;
      await heal(stand);
      return call();
    });
    const sandboxId = await readySandbox(stand);
    await failing(stand);
    const requested = await ask(stand, {
      ...{ sandboxId, escalate: steps('1s: resume-and-stop') },
      notify: { url: listener.url },
    });
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
    await listener.close();
    const { event, message } = JSON.parse(toldBefore ?? '{}');
    expect(event).toBe('stop_escalating');
    expect(message).toContain('The step "1s: resume-and-stop" is due.');
    expect(message).toContain('It has no snapshot: none of its work is saved. The resume may lose it.');
  });
});
