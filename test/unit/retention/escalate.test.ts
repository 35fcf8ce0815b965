/** Rules that escalate failing stops: which sandboxes they fit, what they leave, and which guards refuse them. */
import { describe, expect, it, test } from 'vitest';
import { parseEscalation } from '../../../src/protocol/escalation.js';
import { changedSince, changedSinceOfFailing, factsOf } from '../../../src/retention/facts.js';
import { judge } from '../../../src/retention/guards.js';
import { readPolicy, sweepPolicy } from '../../../src/retention/index.js';
import type { Candidate } from '../../../src/retention/match.js';
import { planCleanup } from '../../../src/retention/plan.js';
import { aSandbox } from '../client/http-harness.js';
import { candidateWith, daysAgo, factsWith, nobody, nowMs } from './builders.js';

const minute = 60_000;
const ago = (ms: number) => new Date(nowMs - ms).toISOString();
const failing = {
  ...{ state: 'archiving', stopStatus: 'failing', stopFailingSince: ago(60 * minute), stoppedAt: null },
  ...{ saved: 'stale' as const, idleSince: null },
};
const escalate = parseEscalation('30m: resume-and-stop, 6h: delete', { mayDelete: true });
const policy = sweepPolicy({ escalate, protect: ['golden-*'] });
const plan = (candidate: Candidate, of = policy) =>
  planCleanup({
    ...{ policy: of, nowMs, candidates: [candidate], snapshots: new Map(), takenTonight: 0, fleetTonight: null },
  });
const entryOf = (candidate: Candidate, of = policy) => plan(candidate, of).entries[0];

describe('a rule that escalates', () => {
  it('fits a failing stop that is old enough, also of a sandbox that a job kept', () => {
    const kept = { status: 'kept', workflowId: 'sf-a-b' } as const;
    for (const candidate of [candidateWith(failing), candidateWith(failing, kept)])
      expect(entryOf(candidate)).toMatchObject({
        ...{ action: 'escalate', reason: null },
        failingStop: { stopId: 'stop_1', since: ago(60 * minute), follower: null, dueStep: '30m: resume-and-stop' },
      });
  });

  it('counts the time between request and last attempt if the clock of the service is ahead', () => {
    const ahead = { ...failing, stopFailingSince: ago(-60 * minute) };
    expect(entryOf(candidateWith({ ...ahead, stopFailedForMs: 30 * minute }))?.action).toBe('escalate');
    expect(entryOf(candidateWith({ ...ahead, stopFailedForMs: 0 }))?.action).toBeNull();
  });

  it.each([
    ['a running sandbox', { state: 'ready', stopFailingSince: null }, 'no_rule'],
    ['a stop that is too young', { ...failing, stopFailingSince: ago(minute) }, 'no_rule'],
    ['a protected sandbox', { ...failing, name: 'golden-1' }, 'protected'],
    ['a sandbox without a name', { ...failing, name: null }, 'no_name'],
    ['a sandbox of somebody else, which it might delete', { ...failing, access: 'use' }, 'not_yours'],
  ] as const)('leaves %s', (_, facts, reason) => {
    expect(entryOf(candidateWith(facts))).toMatchObject({ action: null, reason });
  });

  it('leaves a sandbox whose owner runs, or is unknown', () => {
    for (const [status, reason] of [
      ['open', 'owner_open'],
      ['unknown', 'owner_unknown'],
      ['other-deployment', 'other_deployment'],
    ] as const)
      expect(entryOf(candidateWith(failing, { status, workflowId: 'sf-a-b' }))).toMatchObject({ action: null, reason });
  });

  it('leaves a stop whose request has steps of its own, and joins any other request', () => {
    const followed = (nextStep: string | null) => ({
      ...candidateWith(failing),
      follower: { requestId: 'r1', nextStep },
    });
    expect(entryOf(followed('2h: notify'))).toMatchObject({ action: null, reason: 'escalated_already' });
    expect(entryOf(followed(null))).toMatchObject({
      action: 'escalate',
      failingStop: { follower: { requestId: 'r1' } },
    });
  });

  it('may act on a sandbox of somebody else if it cannot delete', () => {
    const gentle = sweepPolicy({ escalate: parseEscalation('2h: notify') });
    expect(entryOf(candidateWith({ ...failing, access: 'view' }), gentle)).toMatchObject({
      ...{ action: 'escalate', failingStop: { dueStep: null } },
    });
  });
});

describe('right before the action', () => {
  const [planned] = plan(candidateWith(failing)).actions;
  if (!planned) throw new Error('Nothing is planned.');
  const look = (over: Partial<typeof failing & { stopId: string; updatedAt: string }> = {}) => ({
    ...{ policy, planned, nowMs, owner: nobody, leasedBy: [], claimGranted: true, allowed: 20, missingKeeps: [] },
    ...{ snapshots: [], facts: factsWith({ ...failing, ...over }) },
  });

  it('an attempt that failed since the plan changes nothing', () => {
    expect(judge(look({ updatedAt: ago(0), stopStatus: 'pending' }))).toEqual({ isDue: true });
  });

  it('another stop, a stop that ended and a lease refuse it', () => {
    expect(judge(look({ stopId: 'stop_2' }))).toMatchObject({ guard: 'changed' });
    expect(judge({ ...look(), facts: factsWith({ ...failing, stopFailingSince: null }) })).toMatchObject({
      guard: 'rule',
    });
    expect(judge({ ...look(), claimGranted: false, leasedBy: ['job'] })).toMatchObject({ guard: 'leased' });
    expect(judge({ ...look(), facts: factsWith({ ...failing, access: 'use' }) })).toMatchObject({ guard: 'access' });
  });
});

test('a failing stop changes its sandbox all the time, but not who it is', () => {
  const now = { ...factsWith(failing), updatedAt: daysAgo(0), saved: 'none' as const };
  expect(changedSince(factsWith(failing), now)).toEqual(['updatedAt', 'saved']);
  expect(changedSinceOfFailing(factsWith(failing), now)).toEqual([]);
  expect(changedSinceOfFailing(factsWith(failing), { ...now, name: 'other' })).toEqual(['name']);
});

test.each([
  ['failing', null, true],
  ['pending', daysAgo(1), true],
  ['pending', null, false],
  ['completed', daysAgo(1), false],
])('a stop that is %s, with its last attempt at %s', (status, lastAttemptAt, isFailing) => {
  const stop = { id: 'stop_1', status, requestedAt: daysAgo(2), lastAttemptAt, error: null, endedAt: null };
  expect(factsOf({ ...aSandbox, stop }).stopFailingSince).toBe(isFailing ? daysAgo(2) : null);
  expect(factsOf({ ...aSandbox, stop }).stopFailedForMs).toBe(isFailing && lastAttemptAt ? 86_400_000 : null);
});

describe('a policy file', () => {
  const rules = 'rules: [{rule: a, action: escalate, match: {stopFailingFor: 10m}}]';

  it('has steps, and permits deletions in a field of its own', () => {
    const read = readPolicy(
      `escalate: "30m: resume-and-stop, 6h: delete"\nescalateMayDelete: true\n${rules}`,
      'p.yaml',
    );
    expect(read.escalate).toEqual(escalate);
    expect(read.rules[0]).toMatchObject({ action: 'escalate', match: { stopFailingForMs: 10 * minute } });
  });

  it.each([
    [rules, 'escalate: is needed for a rule with the action escalate'],
    ['escalateMayDelete: true\nrules: [{rule: a, action: stop}]', 'escalate: is needed for escalateMayDelete'],
    [`escalate: "6h: delete"\n${rules}`, 'permit that with escalateMayDelete: true'],
    [`escalate: "6h: reboot"\n${rules}`, 'step 1, "6h: reboot": unknown action'],
  ])('%j is refused', (text, why) => {
    expect(() => readPolicy(text, 'p.yaml')).toThrow(why);
  });
});
