import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stopProgress, stopReport } from '../../../src/workflow-client/stops/read-stops.js';
import { createStand, type Stand, withoutPolls } from '../workflow-harness.js';
import { ask, heal, outcomeOf, readySandbox, signalEvent, stopWorkflow } from './stop-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterEach(() => heal(stand));
afterAll(() => stand.close());

const stopsOnTheBooks = (sandboxId: string) => stand.service.books.stops({ sandboxId });

describe('a stop', () => {
  it('is woken by the webhook, confirmed by its own id, and reports the work as saved', async () => {
    const sandboxId = await readySandbox(stand);
    const requested = await ask(stand, { sandboxId, timing: withoutPolls });
    expect(requested.accepted).toMatchObject({ phase: 'waiting', outcome: null });
    const [stop] = stopsOnTheBooks(sandboxId);
    expect(requested.accepted.stopId).toBe(stop?.id);
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', kept: 'saved', stopId: stop?.id });
    const report = await stopWorkflow(stand, sandboxId).result();
    expect(report).toMatchObject({ sandboxId, wakes: [{ by: 'webhook', event: 'sandbox.archived' }], apiCalls: 3 });
    const calls = stand.service.books.calls({ sandboxId }).map(({ endpoint }) => endpoint);
    expect(calls.slice(-3)).toEqual(['getSandbox', 'stopSandbox', 'getSandbox']);
  });

  it('goes from pending through failing to completed, and reports what it saw', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const requested = await ask(stand, { sandboxId });
    expect(requested.accepted.status).toBe('pending');
    const view = () => stopProgress(stand.client, requested);
    await expect.poll(async () => (await view()).status).toBe('failing');
    const { failed } = await view();
    expect(failed?.attempts).toBeGreaterThan(0);
    expect(failed?.lastError).toContain('did not finish its snapshot');
    await heal(stand);
    const ended = await outcomeOf(stand, requested);
    expect(ended).toMatchObject({ outcome: 'archived', status: 'completed', kept: 'saved' });
    expect(ended.failed?.since).toBe(failed?.since);
    expect(stopsOnTheBooks(sandboxId)).toHaveLength(1);
    const calls = stand.service.books.calls({ sandboxId }).filter(({ endpoint }) => endpoint === 'stopSandbox');
    expect(calls, 'S7: the service repeats by itself').toHaveLength(1);
  });

  it('that a resume ends is superseded', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const requested = await ask(stand, { sandboxId });
    await stand.api.resumeSandbox(sandboxId, {});
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'superseded', kept: null });
    expect(stopsOnTheBooks(sandboxId)).toHaveLength(1);
  });

  it('S6: is not ended by a late sandbox.archived of an earlier stop', async () => {
    const sandboxId = await readySandbox(stand);
    const first = await ask(stand, { sandboxId });
    expect((await outcomeOf(stand, first)).outcome).toBe('archived');
    await stand.api.resumeSandbox(sandboxId, {});
    await expect.poll(async () => (await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('ready');
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const second = await ask(stand, { sandboxId, timing: withoutPolls });
    // The second event wakes the workflow after the read that the first one caused.
    const wakesSoFar = async () => (await stopReport(stand.client, sandboxId))?.wakes.length ?? 0;
    for (const number of [1, 2]) {
      // An event of the resume may come late, and wakes the workflow too.
      const before = await wakesSoFar();
      await signalEvent(stand, sandboxId, { id: `evt_of_the_first_stop_${number}`, type: 'sandbox.archived' });
      await expect.poll(wakesSoFar).toBeGreaterThan(before);
    }
    await heal(stand);
    const ended = await outcomeOf(stand, second);
    expect(ended).toMatchObject({ outcome: 'archived', stopId: second.accepted.stopId });
    expect(ended.stopId).not.toBe(first.accepted.stopId);
    const stop = stopsOnTheBooks(sandboxId).find(({ id }) => id === ended.stopId);
    expect(Date.parse(ended.endedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(stop?.endedAt ?? ''));
    const { wakes } = await stopWorkflow(stand, sandboxId).result();
    expect(wakes.length).toBeGreaterThan(2);
  });

  it('of an archived sandbox has nothing to do, and says so', async () => {
    const sandboxId = await readySandbox(stand);
    const first = await outcomeOf(stand, await ask(stand, { sandboxId }));
    const second = await outcomeOf(stand, await ask(stand, { sandboxId }));
    expect(second).toMatchObject({ outcome: 'already_archived', stopId: first.stopId, kept: 'saved' });
    expect(stopsOnTheBooks(sandboxId)).toHaveLength(1);
  });

  it('reports that nothing was kept with snapshots off', async () => {
    const sandboxId = await readySandbox(stand, { snapshots: false });
    expect(await outcomeOf(stand, await ask(stand, { sandboxId }))).toMatchObject({
      outcome: 'archived',
      kept: 'none',
    });
  });

  it('of a sandbox that does not exist is gone', async () => {
    // No other file stops this id, because all files share the workflows of the stops.
    const sandboxId = 'bx_3a3a3a3a';
    const { accepted } = await ask(stand, { sandboxId });
    expect(accepted).toMatchObject({ outcome: 'gone', stopId: null });
    expect(stopsOnTheBooks(sandboxId)).toEqual([]);
  });

  it('is gone if the sandbox is deleted during the wait', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const requested = await ask(stand, { sandboxId });
    await stand.api.deleteSandbox(sandboxId);
    expect((await outcomeOf(stand, requested)).outcome).toBe('gone');
  });

  it('ends by safety polls when every webhook is lost', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'webhook_drop', times: 100 });
    expect((await outcomeOf(stand, await ask(stand, { sandboxId }))).outcome).toBe('archived');
    const report = await stopReport(stand.client, sandboxId);
    expect(new Set(report?.wakes.map(({ by }) => by))).toEqual(new Set(['safety_poll']));
  });
});
