/** The stop workflow while others act, reads lag, answers are wrong, or requests are many. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { requestStopUpdate, stopReportQuery } from '../../../../src/protocol/messages.js';
import { createIntercept, lost } from '../../../workflows/intercept.js';
import { ask, heal, outcomeOf, readySandbox, signalEvent, stopWorkflow } from '../../../workflows/stop/stop-harness.js';
import { believesNothing, createStand, type Stand, withoutPolls } from '../../../workflows/workflow-harness.js';

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
async function stopByHand(sandboxId: string): Promise<void> {
  await stand.api.stopSandbox(sandboxId);
  await expect.poll(() => stateOf(sandboxId)).toBe('archived');
}
async function resumeByHand(sandboxId: string): Promise<void> {
  await stand.api.resumeSandbox(sandboxId, {});
  await expect.poll(() => stateOf(sandboxId)).toBe('ready');
}

describe('a stop', () => {
  it('of a sandbox that others have stopped and resumed is requested, also after it is lost once', async () => {
    const sandboxId = await readySandbox(stand);
    await stopByHand(sandboxId);
    await resumeByHand(sandboxId);
    intercept.on('stopSandbox', (call, count) => (count === 1 ? Promise.reject(lost('stopSandbox')) : call()));
    const ended = await outcomeOf(stand, await ask(stand, { sandboxId }));
    expect(ended).toMatchObject({ outcome: 'archived', kept: 'saved', stopId: stops(sandboxId)[1]?.id });
  });

  it('right after a resume is requested, although reads still show the sandbox archived', async () => {
    const sandboxId = await readySandbox(stand);
    await stopByHand(sandboxId);
    const old = await stand.api.getSandbox(sandboxId);
    await resumeByHand(sandboxId);
    intercept.on('getSandbox', (call, count) => (count === 1 ? Promise.resolve(old) : call()));
    const ended = await outcomeOf(stand, await ask(stand, { sandboxId }));
    expect(ended).toMatchObject({ outcome: 'archived', kept: 'saved', stopId: stops(sandboxId)[1]?.id });
    expect(await stateOf(sandboxId)).toBe('archived');
  });

  it('of an archived sandbox needs no second stop, whether the service answers the request or refuses it', async () => {
    const sandboxId = await readySandbox(stand);
    await stopByHand(sandboxId);
    const seen = { outcome: 'already_archived', kept: 'saved', stopId: stops(sandboxId)[0]?.id };
    expect(await outcomeOf(stand, await ask(stand, { sandboxId }))).toMatchObject(seen);
    await stand.fault({ kind: 'error', endpoint: 'stopSandbox', status: 402, code: 'billing_required' });
    expect(await outcomeOf(stand, await ask(stand, { sandboxId }))).toMatchObject(seen);
    expect(stops(sandboxId)).toHaveLength(1);
  });

  it('that others received before its end is shared by a request that reaches the service later', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const first = await ask(stand, { sandboxId, timing: withoutPolls });
    const late = { reads: 0, goOn: () => undefined as unknown };
    const archived = new Promise((resolve) => {
      late.goOn = () => resolve(undefined);
    });
    intercept.on('getSandbox', async (call, count) => {
      late.reads = count;
      if (count === 1) await archived;
      return call();
    });
    const asking = ask(stand, { sandboxId, timing: withoutPolls });
    await expect.poll(() => late.reads).toBe(1);
    await heal(stand);
    await expect.poll(() => stateOf(sandboxId)).toBe('archived');
    late.goOn();
    const seen = { outcome: 'archived', kept: 'saved', stopId: first.accepted.stopId };
    expect(await outcomeOf(stand, await asking)).toMatchObject(seen);
    expect(await outcomeOf(stand, first)).toMatchObject(seen);
  });

  it('that a person undid before its lost answer was repeated is superseded, and not repeated', async () => {
    const sandboxId = await readySandbox(stand);
    intercept.on('stopSandbox', async (call) => {
      await call();
      await expect.poll(() => stateOf(sandboxId)).toBe('archived');
      await resumeByHand(sandboxId);
      throw lost('stopSandbox');
    });
    const ended = await outcomeOf(stand, await ask(stand, { sandboxId }));
    expect(ended).toMatchObject({ outcome: 'superseded', kept: null, stopId: stops(sandboxId)[0]?.id });
    expect(await stateOf(sandboxId)).toBe('ready');
    expect(stops(sandboxId)).toHaveLength(1);
  });

  it('remembers through a refusal the state before a request that may have been accepted', async () => {
    const sandboxId = await readySandbox(stand);
    intercept.on('stopSandbox', async (call) => {
      await call();
      await expect.poll(() => stateOf(sandboxId)).toBe('archived');
      await resumeByHand(sandboxId);
      // The next attempt is refused before it can read anything; the one after it is another activity.
      await stand.fault({ kind: 'error', endpoint: 'getSandbox', status: 429, code: 'rate_limited' });
      throw lost('stopSandbox');
    });
    const ended = await outcomeOf(stand, await ask(stand, { sandboxId }));
    expect(ended).toMatchObject({ outcome: 'superseded', stopId: stops(sandboxId)[0]?.id });
    expect(stops(sandboxId)).toHaveLength(1);
  });

  it('with an answer about an unknown stop is requested again, and ends by the real one', async () => {
    const sandboxId = await readySandbox(stand);
    intercept.on('stopSandbox', (call, count) => (count === 1 ? Promise.resolve({ id: 'stop_00000000' }) : call()));
    const ended = await outcomeOf(stand, await ask(stand, { sandboxId }));
    expect(ended).toMatchObject({ outcome: 'archived', askedAgain: 1, stopId: stops(sandboxId)[0]?.id });
  });

  it('continues if its reads answer 404 for a while', async () => {
    const sandboxId = await readySandbox(stand);
    const lagging = (call: () => Promise<unknown>, count: number) =>
      count <= 2 ? stand.api.getSandbox('bx_2a2a2a2a') : call();
    intercept.on('getSandbox', lagging);
    intercept.on('getStop', lagging);
    const requested = await ask(stand, { sandboxId, timing: believesNothing });
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
  });

  it('with an unknown status has ended when the sandbox is archived', async () => {
    const sandboxId = await readySandbox(stand);
    intercept.on('getSandbox', async (call) => {
      const answer = (await call()) as { sandbox: { stop: object | null } };
      const stop = answer.sandbox.stop && { ...answer.sandbox.stop, status: 'sealed' };
      return { ...answer, sandbox: { ...answer.sandbox, stop } };
    });
    const ended = await outcomeOf(stand, await ask(stand, { sandboxId }));
    expect(ended).toMatchObject({ outcome: 'archived', kept: 'saved', status: 'sealed' });
  });
});

describe('a workflow of stops', () => {
  it('continues as new by the number of events and of requests, and loses none', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const requested = [await ask(stand, { sandboxId, requestId: 'r0', maxMessages: 3 })];
    for (let number = 1; number <= 7; number += 1) {
      requested.push(await ask(stand, { sandboxId, requestId: `r${number}` }));
      await signalEvent(stand, sandboxId, { id: `evt_${number}`, type: 'sandbox.ready' });
    }
    expect(new Set(requested.map(({ runId }) => runId)).size).toBeGreaterThan(1);
    // An id of an earlier run, which Temporal no longer knows.
    const known = { requestId: 'r0', deadlineMs: 600_000, alertAfterMs: null };
    const workflow = stopWorkflow(stand, sandboxId);
    await workflow.executeUpdate(requestStopUpdate, { args: [known], updateId: 'r0' });
    expect((await workflow.query(stopReportQuery)).requests).toHaveLength(requested.length);
    await heal(stand);
    const ended = await Promise.all(requested.map((one) => outcomeOf(stand, one)));
    // The next run makes a request that was carried over before its acceptance, possibly after the end.
    for (const { outcome } of ended) expect(['archived', 'already_archived']).toContain(outcome);
    expect(stops(sandboxId)).toHaveLength(1);
  });

  it('carries over only what it needs of the service’s answers', async () => {
    const sandboxId = await readySandbox(stand);
    const message = 'x'.repeat(300_000);
    intercept.on('getSandbox', async (call) => {
      const answer = (await call()) as { sandbox: { stop: object | null } };
      const stop = answer.sandbox.stop && { ...answer.sandbox.stop, status: 'failing', error: message };
      return { ...answer, sandbox: { ...answer.sandbox, stop } };
    });
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const ended = await outcomeOf(stand, await ask(stand, { sandboxId, deadlineMs: 3_000 }));
    expect(ended).toMatchObject({ outcome: 'still_failing' });
    expect(JSON.stringify(await stopWorkflow(stand, sandboxId).result()).length).toBeLessThan(4_000);
  });
});
