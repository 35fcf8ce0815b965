/** Sweeps: a cleanup that escalates the failing stops of the account, also those that nobody follows. */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { parseEscalation } from '../../../src/protocol/escalation.js';
import { type SweepOptions, sweepPolicy } from '../../../src/retention/index.js';
import { startCleanup } from '../../../src/workflow-client/cleanups/cleanup-client.js';
import { stopReport } from '../../../src/workflow-client/stops/read-stops.js';
import { cli as runCli } from '../../unit/cli/in-process.js';
import { clean, cleaned, holdJob, nameOf, policyFor } from '../cleanup/cleanup-harness.js';
import { createIntercept } from '../intercept.js';
import { leaseAs } from '../watch/lease-harness.js';
import { createStand, deployment, type Stand, shortTiming } from '../workflow-harness.js';
import { callsOf, failing, healAtResume, steps } from './escalation-harness.js';
import { ask, heal, outcomeOf, readySandbox } from './stop-harness.js';

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

const settings = { settleMs: 0, timing: { ...shortTiming, readLagMs: 1_000 } };

/** A sandbox whose stop was requested without sandflow, and has failed for more than a second. */
async function failingByHand(name: string): Promise<string> {
  const sandboxId = await readySandbox(stand, { name });
  await failing(stand);
  await stand.api.stopSandbox(sandboxId);
  const failedForMs = async () => {
    const { stop } = (await stand.api.getSandbox(sandboxId)).sandbox;
    return stop?.status === 'failing' ? Date.now() - Date.parse(stop.requestedAt ?? '') : 0;
  };
  await expect.poll(failedForMs).toBeGreaterThan(1_000);
  return sandboxId;
}

let sweeps = 0;
async function sweep(text: string, over: Partial<SweepOptions> & { mode?: 'plan' | 'apply'; runId?: string } = {}) {
  sweeps += 1;
  const { mode = 'apply', runId, ...options } = over;
  const escalate = parseEscalation(text, { mayDelete: true });
  const policy = sweepPolicy({ escalate, failingForMs: 1, name: `sweep-${sweeps}`, ...options });
  const handle = await startCleanup(stand.client, {
    ...{ deployment, taskQueue: stand.taskQueue, policy, mode, settings },
    ...(runId !== undefined && { runId }),
  });
  return cleaned(stand, await handle.result());
}

describe('a sweep', () => {
  it('finds a failing stop that nobody follows, resumes and stops it, and reports what came of it', async () => {
    const sandboxId = await failingByHand('left-alone');
    const running = await readySandbox(stand, { name: 'at-work' });
    healAtResume(stand, intercept);
    const { of, report, summary } = await sweep('1s: resume-and-stop');
    expect(of(sandboxId)).toBe('stopped');
    expect(of(running)).toBe('no_rule');
    expect(summary.counts).toMatchObject({ stopped: 1, skipped: 0 });
    const entry = report.plan?.entries.find((one) => one.sandboxId === sandboxId);
    expect(entry).toMatchObject({ failingStop: { follower: null, dueStep: '1s: resume-and-stop' } });
    expect(entry?.results[0]?.why).toBe('1s: resume-and-stop done');
    expect((await stand.api.getSandbox(running)).sandbox.state).toBe('ready');
  });

  it('changes nothing in a dry run, and says who follows what and which step is due', async () => {
    const alone = await failingByHand('dry-alone');
    const followed = await readySandbox(stand, { name: 'dry-followed' });
    const requested = await ask(stand, { sandboxId: followed, requestId: 'plain' });
    await expect.poll(async () => (await stand.api.getSandbox(followed)).sandbox.stop?.status).toBe('failing');
    const { of, report } = await sweep('1h: resume-and-stop', { mode: 'plan' });
    expect([of(alone), of(followed)]).toEqual(['escalate', 'escalate']);
    const stopOf = (id: string) => report.plan?.entries.find(({ sandboxId }) => sandboxId === id)?.failingStop;
    expect(stopOf(alone)).toMatchObject({ follower: null, dueStep: null });
    expect(stopOf(followed)).toMatchObject({ follower: { requestId: 'plain', nextStep: null } });
    expect(await stopReport(stand.client, alone)).toBeNull();
    await heal(stand);
    await outcomeOf(stand, requested);
  });

  it('joins a request without an escalation, and leaves one that has its own', async () => {
    const plain = await readySandbox(stand, { name: 'join-plain' });
    const own = await readySandbox(stand, { name: 'join-own' });
    await failing(stand);
    const requested = [
      await ask(stand, { sandboxId: plain, requestId: 'plain' }),
      await ask(stand, { sandboxId: own, requestId: 'own', escalate: steps('2h: notify'), deadlineMs: 7_300_000 }),
    ];
    for (const id of [plain, own])
      await expect.poll(async () => (await stand.api.getSandbox(id)).sandbox.stop?.status).toBe('failing');
    const { of, report, summary } = await sweep('1h: notify');
    expect([of(plain), of(own)]).toEqual(['escalating', 'escalated_already']);
    const entry = report.plan?.entries.find(({ sandboxId }) => sandboxId === own);
    expect(entry?.why).toBe('the request own already escalates its stop, next by "2h: notify"');
    expect(summary.counts.escalating).toBe(1);
    expect(summary.machinesLeft).toBe(1);
    await heal(stand);
    for (const one of requested) expect((await outcomeOf(stand, one)).outcome).toBe('archived');
  });

  it('leaves what is protected, leased, or belongs to a running job, and says why', async () => {
    const { runId } = await holdJob(stand, 'sweep-owner');
    const kept = await failingByHand('golden-1');
    const leased = await failingByHand('swept-leased');
    const owned = await failingByHand(nameOf('sweep-owner', runId));
    await leaseAs(stand, leased, 'another-job');
    const { of } = await sweep('1s: delete', { protect: ['golden-*'] });
    expect([of(kept), of(leased), of(owned)]).toEqual(['protected', 'skipped: leased', 'owner_open']);
    for (const id of [kept, leased, owned]) expect(callsOf(stand, id, 'deleteSandbox')).toEqual([]);
  });

  it('deletes at most as many as its limit allows', async () => {
    // A stop that an earlier test left is older: it would take the place of both, and may end before it is deleted.
    const failingStops = async () =>
      (await stand.api.listSandboxes({})).sandboxes.filter(({ stop }) => stop?.status === 'failing');
    await expect.poll(failingStops).toEqual([]);
    const ids = [await failingByHand('limited-1'), await failingByHand('limited-2')];
    const { of, summary } = await sweep('1s: delete', { maxActions: 1 });
    expect(summary.counts.deleted).toBe(1);
    expect(ids.map(of).toSorted()).toEqual(['deleted', 'over_limit']);
  });

  it('that is started twice with the same id is one run', async () => {
    const sandboxId = await failingByHand('twice');
    const name = 'sweep-twice';
    const [first, second] = [
      await sweep('1h: notify', { name, runId: 'tonight' }),
      await sweep('1h: notify', { name, runId: 'tonight' }),
    ];
    expect(second.summary).toEqual(first.summary);
    expect((await stopReport(stand.client, sandboxId))?.requests).toHaveLength(1);
    await expect(sweep('1h: notify', { name, runId: 'to night' })).rejects.toMatchObject({ code: 'bad_argument' });
  });
});

describe('a cleanup', () => {
  it('hands a stop that has not ended in time over to the escalation of its policy', async () => {
    const sandboxId = await readySandbox(stand, { name: 'late-1' });
    await failing(stand);
    const { of, report } = await clean(stand, policyFor('late', 'stop', 'escalate: "1h: notify"'), {
      actionDeadlineMs: 2_000,
    });
    expect(of(sandboxId)).toBe('escalating');
    const entry = report.plan?.entries.find((one) => one.sandboxId === sandboxId);
    expect(entry?.results[0]?.why).toContain(`sandbox-stop/${sandboxId} follows it`);
    const own = await stopReport(stand.client, sandboxId);
    expect(own?.requests).toMatchObject([{ outcome: null, escalation: [{ action: 'notify' }] }]);
  });
});

describe('sandflow stops sweep', () => {
  const cli = (args: readonly string[]) =>
    runCli(['stops', 'sweep', ...args], {
      env: {
        SANDBOX_API_URL: stand.service.url,
        SANDBOX_API_KEY: 'test-key',
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        SANDFLOW_TASK_QUEUE: stand.taskQueue,
        SANDFLOW_RESULTS: stand.resultsDirectory,
      },
    });

  it('shows the plan of each failing stop, and with --apply what was done', async () => {
    const sandboxId = await failingByHand('by-command');
    const args = ['--escalate', '1s: resume-and-stop', '--failing-for', '1ms'];
    const plan = await cli([...args, '--dry-run']);
    expect(plan.exitCode).toBe(0);
    expect(plan.stdout).toMatch(
      new RegExp(`${sandboxId} .*escalate: requested at .*nobody follows it, "1s: resume-and-stop" is due`),
    );
    healAtResume(stand, intercept);
    const done = await cli([...args, '--apply', '--json']);
    expect(done.exitCode).toBe(0);
    const { plan: shown, summary } = JSON.parse(done.stdout);
    expect(summary).toMatchObject({ outcome: 'applied', policy: 'stop-sweep' });
    const entry = shown.entries.find((one: { sandboxId: string }) => one.sandboxId === sandboxId);
    expect(entry).toMatchObject({ action: 'escalate', results: [{ outcome: 'stopped' }] });
  });
});
