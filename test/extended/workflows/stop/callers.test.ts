import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stopProgress } from '../../../../src/workflow-client/stops/read-stops.js';
import { requestStop } from '../../../../src/workflow-client/stops/stop-client.js';
import { ask, heal, outcomeOf, readySandbox, stopWorkflow } from '../../../workflows/stop/stop-harness.js';
import { createStand, type Stand, withoutPolls } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterEach(() => heal(stand));
afterAll(() => stand.close());

const stopsOnTheBooks = (sandboxId: string) => stand.service.books.stops({ sandboxId });

describe('callers for one sandbox', () => {
  it('that request at once share one stop, and each has its own result', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const requested = await Promise.all(['a', 'b', 'c'].map((requestId) => ask(stand, { sandboxId, requestId })));
    // All of them have asked before the stop ends, however busy the machine is.
    await heal(stand);
    const ended = await Promise.all(requested.map((one) => outcomeOf(stand, one)));
    expect(ended.map(({ requestId, outcome }) => [requestId, outcome])).toEqual([
      ['a', 'archived'],
      ['b', 'archived'],
      ['c', 'archived'],
    ]);
    expect(stopsOnTheBooks(sandboxId)).toHaveLength(1);
    expect(new Set(ended.map(({ stopId }) => stopId)).size).toBe(1);
  });

  it('with a resume in between have their own stops: one is superseded, the other archived', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    // No event reports the resume, so the first request still waits when the second arrives.
    await stand.fault({ kind: 'webhook_drop', times: 1_000 });
    const first = await ask(stand, { sandboxId, timing: withoutPolls });
    await stand.api.resumeSandbox(sandboxId, {});
    await expect.poll(async () => (await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('ready');
    const second = await ask(stand, { sandboxId, timing: withoutPolls });
    expect(second.runId).toBe(first.runId);
    expect(second.accepted.stopId).not.toBe(first.accepted.stopId);
    expect((await stopProgress(stand.client, first)).outcome).toBeNull();
    await heal(stand);
    expect((await outcomeOf(stand, second)).outcome).toBe('archived');
    expect(await outcomeOf(stand, first)).toMatchObject({ outcome: 'superseded', stopId: first.accepted.stopId });
    expect(stopsOnTheBooks(sandboxId).map(({ status }) => status)).toEqual(['superseded', 'completed']);
  });

  it('have their own deadlines', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const patient = await ask(stand, { sandboxId });
    let ended = await outcomeOf(stand, await ask(stand, { sandboxId, deadlineMs: 1_500 }));
    // A busy machine may not have read the stop before so short a deadline.
    for (let deadlineMs = 3_000; ended.failed === null; deadlineMs *= 2)
      ended = await outcomeOf(stand, await ask(stand, { sandboxId, deadlineMs }));
    expect(ended).toMatchObject({ outcome: 'still_failing', status: 'failing', error: { code: 'stop_not_ended' } });
    expect(ended.error?.message).toMatch(/failed attempts? seen since .*did not finish its snapshot/);
    expect((await stopProgress(stand.client, patient)).outcome).toBeNull();
    await heal(stand);
    expect((await outcomeOf(stand, patient)).outcome).toBe('archived');
  });

  it('that repeat a request id cause one stop, both while it runs and after it has ended', async () => {
    const sandboxId = await readySandbox(stand);
    const twice = await Promise.all([1, 2].map(() => ask(stand, { sandboxId, requestId: 'nightly' })));
    const ended = await outcomeOf(stand, twice[0] ?? (await ask(stand, { sandboxId })));
    await stopWorkflow(stand, sandboxId).result();
    await stand.api.resumeSandbox(sandboxId, {});
    await expect.poll(async () => (await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('ready');
    const again = await ask(stand, { sandboxId, requestId: 'nightly' });
    expect(again.accepted).toEqual(ended);
    expect((await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('ready');
    expect(stopsOnTheBooks(sandboxId)).toHaveLength(1);
  });

  it('that repeat a request id after other requests cause no second stop', async () => {
    const sandboxId = await readySandbox(stand);
    const nightly = await outcomeOf(stand, await ask(stand, { sandboxId, requestId: 'nightly' }));
    await stopWorkflow(stand, sandboxId).result();
    await outcomeOf(stand, await ask(stand, { sandboxId }));
    await stopWorkflow(stand, sandboxId).result();
    const query = `WorkflowId = 'sandbox-stop/${sandboxId}' AND ExecutionStatus = 'Completed'`;
    await expect.poll(async () => (await stand.client.workflow.count(query)).count).toBe(2);
    await stand.api.resumeSandbox(sandboxId, {});
    await expect.poll(async () => (await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('ready');
    expect((await ask(stand, { sandboxId, requestId: 'nightly' })).accepted).toEqual(nightly);
    expect((await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('ready');
  });

  it('that exceed Temporal’s limit of concurrent updates wait their turn', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'latency', endpoint: 'stopSandbox', ms: 3_000, times: 12 });
    const requested = await Promise.all(Array.from({ length: 12 }, () => ask(stand, { sandboxId })));
    const outcomes = await Promise.all(requested.map(async (one) => (await outcomeOf(stand, one)).outcome));
    expect(outcomes.filter((outcome) => outcome !== 'archived' && outcome !== 'already_archived')).toEqual([]);
    expect(stopsOnTheBooks(sandboxId)).toHaveLength(1);
  });

  it('that arrive after the workflow has ended get a new run, and earlier results stay readable', async () => {
    const sandboxId = await readySandbox(stand);
    const first = await ask(stand, { sandboxId });
    const archived = await outcomeOf(stand, first);
    await stopWorkflow(stand, sandboxId).result();
    const second = await ask(stand, { sandboxId });
    expect((await outcomeOf(stand, second)).outcome).toBe('already_archived');
    expect(second.runId).not.toBe(first.runId);
    expect(await stopProgress(stand.client, first)).toEqual(archived);
  });

  it('that arrive while the workflow is ending are never lost', async () => {
    const sandboxId = await readySandbox(stand);
    await outcomeOf(stand, await ask(stand, { sandboxId }));
    const outcomes: (string | null)[] = [];
    for (let round = 0; round < 8; round += 1) {
      const pair = await Promise.all([ask(stand, { sandboxId }), ask(stand, { sandboxId })]);
      outcomes.push(...(await Promise.all(pair.map((one) => outcomeOf(stand, one)))).map(({ outcome }) => outcome));
    }
    expect(new Set(outcomes)).toEqual(new Set(['already_archived']));
    expect(stopsOnTheBooks(sandboxId)).toHaveLength(1);
  });

  it('are refused invalid input before anything starts', async () => {
    const bad = requestStop(stand.client, { sandboxId: 'nonsense' }, { taskQueue: stand.taskQueue });
    await expect(bad).rejects.toMatchObject({ code: 'bad_stop_request' });
    const never = ask(stand, { sandboxId: 'bx_2a2a2a2a', deadlineMs: 0 });
    await expect(never).rejects.toMatchObject({ code: 'bad_stop_request' });
    expect(stand.service.books.calls({ sandboxId: 'bx_2a2a2a2a' })).toEqual([]);
  });
});
