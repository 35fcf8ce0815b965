/** What a plan does, in which order, and up to which limit. */
import { describe, expect, test } from 'vitest';
import { allowedOf } from '../../../src/retention/plan.js';
import { candidateWith, daysAgo, planWith, policyWith, ruleWith } from './builders.js';

const aged = (ages: readonly (number | null)[]) =>
  ages.map((days, at) => candidateWith({ id: `bx_${at}`, createdAt: days === null ? null : daysAgo(days) }));
const limited = (maxActions: number, maxPercent = 100) => policyWith({ limits: { maxActions, maxPercent } });
const ids = (plan: ReturnType<typeof planWith>) => plan.actions.map(({ facts }) => facts.id);

describe('the limit of a night', () => {
  test.each([
    [10, 50, 100, 0, 10],
    [100, 50, 7, 0, 3],
    [100, 100, 7, 0, 7],
    [10, 100, 100, 4, 6],
    [10, 100, 100, 12, 0],
  ])('of %i actions and %i %% of %i, after %i, is %i', (maxActions, maxPercent, fleet, taken, allowed) => {
    expect(allowedOf(limited(maxActions, maxPercent), fleet, taken)).toBe(allowed);
  });

  test('is a share of the sandboxes that the night began with', () => {
    const given = { policy: limited(100, 50), candidates: aged([3, 2]) };
    expect(planWith({ ...given, fleetTonight: null }).allowed).toBe(1);
    expect(planWith({ ...given, fleetTonight: 10 }).allowed).toBe(5);
    expect(planWith({ ...given, fleetTonight: 0 }).allowed).toBe(0);
  });

  test('leaves the rest for the next night, and says so', () => {
    const plan = planWith({ policy: limited(2), candidates: aged([3, 2, 1]) });
    expect(plan).toMatchObject({ fleet: 3, allowed: 2, takenTonight: 0 });
    expect(plan.entries.map(({ reason }) => reason)).toEqual([null, null, 'over_limit']);
    expect(plan.entries[2]).toMatchObject({
      action: null,
      why: 'the limit allows 2 tonight; left for the next night',
    });
    const later = planWith({ policy: limited(2), candidates: aged([3, 2]), takenTonight: 1 });
    expect(later.entries[1]?.why).toBe('the limit allows 1 more tonight; left for the next night');
    expect(later.takenTonight).toBe(1);
  });
});

describe('a limit that lets nothing act', () => {
  test('is told by name, with the least that lets one act', () => {
    const plan = planWith({ policy: limited(50, 20), candidates: aged([4, 3, 2, 1]) });
    expect(plan).toMatchObject({
      allowed: 0,
      actions: [],
      limitProblem:
        'limits.maxPercent is 20, which is less than one of 4 sandboxes, so nothing is ever stopped or deleted; 25 is the least that lets one act',
    });
    expect(planWith({ policy: limited(50, 25), candidates: aged([4, 3, 2, 1]) })).toMatchObject({
      allowed: 1,
      limitProblem: null,
    });
  });

  test.each([
    [0, 100, 4, /^limits\.maxActions is 0, so nothing/],
    [10, 0, 4, /^limits\.maxPercent is 0, .* of 4 sandboxes, .* 25 is/],
    [10, 25, 3, /of 3 sandboxes, .*; 34 is/],
    [10, 99, 1, /of 1 sandbox, .*; 100 is/],
  ])('is told: %i actions and %i percent of %i', (maxActions, maxPercent, fleet, expected) => {
    const candidates = aged(Array.from({ length: fleet }, (_, at) => at + 1));
    expect(planWith({ policy: limited(maxActions, maxPercent), candidates }).limitProblem).toMatch(expected);
    const { limitProblem } = planWith({ policy: limited(maxActions, maxPercent), candidates: [] });
    expect(limitProblem, 'if nothing is due').toBeNull();
  });

  test('is not one that earlier runs of the night used up', () => {
    const plan = planWith({ policy: limited(1), candidates: aged([2, 1]), takenTonight: 1 });
    expect(plan).toMatchObject({ allowed: 0, limitProblem: null });
    expect(plan.entries.map(({ reason }) => reason)).toEqual(['over_limit', 'over_limit']);
  });
});

describe('the order of actions', () => {
  test('is oldest first, with unknown ages last', () => {
    expect(ids(planWith({ candidates: aged([1, null, 3, 2]) }))).toEqual(['bx_2', 'bx_3', 'bx_0', 'bx_1']);
  });

  test('of equal ages does not depend on the order of the list', () => {
    const equal = aged([2, 2, 2, null, null]);
    const inOrder = ['bx_0', 'bx_1', 'bx_2', 'bx_3', 'bx_4'];
    expect(ids(planWith({ candidates: equal }))).toEqual(inOrder);
    expect(ids(planWith({ candidates: equal.toReversed() }))).toEqual(inOrder);
  });

  test('numbers them from 1', () => {
    expect(planWith({ candidates: aged([2, 1]) }).actions.map(({ number }) => number)).toEqual([1, 2]);
  });
});

describe('the newest of a group', () => {
  const keepsTwo = policyWith({ rules: [ruleWith({ keepLast: 2 })] });

  test.each([
    ['has expired data', { dataExpiredAt: daysAgo(1) }],
    ['was removed by the service', { state: 'cancelled' }],
    ['does not fit the names of the rule', { name: 'other' }],
  ])('is none that %s', (_, over) => {
    const policy = policyWith({ rules: [ruleWith({ keepLast: 2, match: { names: ['ci-*'] } })] });
    const candidates = [...aged([5, 4, 3]), candidateWith({ id: 'bx_new', createdAt: daysAgo(1), ...over })];
    const [first] = planWith({ policy, candidates }).actions;
    expect(first).toMatchObject({ facts: { id: 'bx_0' }, keeps: ['bx_2', 'bx_1'] });
  });

  test('may run or be young', () => {
    const running = candidateWith({ id: 'bx_new', createdAt: daysAgo(1), state: 'running' });
    expect(ids(planWith({ policy: keepsTwo, candidates: [...aged([5, 4]), running] }))).toEqual(['bx_0']);
  });

  test('is counted per group', () => {
    const policy = policyWith({ rules: [ruleWith({ keepLast: 1, keepLastPer: 'environment' })] });
    const of = (id: string, environment: string, days: number) =>
      candidateWith({ id, environment, createdAt: daysAgo(days) });
    const candidates = [of('bx_1', 'web', 4), of('bx_2', 'web', 3), of('bx_3', 'api', 2), of('bx_4', 'api', 1)];
    expect(ids(planWith({ policy, candidates }))).toEqual(['bx_1', 'bx_3']);
  });
});

describe('snapshots', () => {
  const policy = policyWith({ rules: [ruleWith({ action: 'delete-snapshot' })] });
  const known = [1, 2, 3].map((days) => ({ id: `snap_${days}`, name: null, createdAt: daysAgo(days) }));
  const snapshots = new Map([['bx_a', known]]);

  test('are one action each, oldest first, and the newest is kept', () => {
    const plan = planWith({ policy, snapshots, fleetTonight: 10 });
    expect(plan.actions.map(({ snapshotId }) => snapshotId)).toEqual(['snap_3', 'snap_2']);
    expect(plan.entries[0]).toMatchObject({
      action: 'delete-snapshot',
      snapshotIds: ['snap_3', 'snap_2'],
      reason: null,
    });
  });

  test('over the limit are left for the next night', () => {
    const { entries, actions } = planWith({
      policy: { ...policy, limits: { maxActions: 1, maxPercent: 100 } },
      snapshots,
    });
    expect(actions).toHaveLength(1);
    expect(entries[0]).toMatchObject({ action: null, snapshotIds: ['snap_3'], reason: 'over_limit' });
  });

  test('are no part of another action', () => {
    const plan = planWith({ snapshots });
    expect(plan.actions).toMatchObject([{ action: 'delete-sandbox', snapshotId: null }]);
    expect(plan.entries[0]?.snapshotIds).toEqual([]);
  });
});

test('an entry shows what the decision rests on', () => {
  const plan = planWith({ candidates: [candidateWith(), candidateWith({ id: 'bx_b', name: null, state: 'ready' })] });
  expect(plan.at).toBe('2026-06-15T02:00:00.000Z');
  expect(plan.entries[0]).toEqual({
    ...{ sandboxId: 'bx_a', name: 'ci-1', state: 'archived', ageMs: 10 * 86_400_000, idleMs: 5 * 86_400_000 },
    ...{ owner: { status: 'none', workflowId: null }, saved: 'saved', savedAt: daysAgo(5), dataExpiresAt: daysAgo(-9) },
    failingStop: null,
    ...{ rule: 'old', wanted: 'delete-sandbox', action: 'delete-sandbox', snapshotIds: [], reason: null, why: null },
  });
  expect(plan.entries[1]).toMatchObject({ dataExpiresAt: null, rule: null, wanted: null });
  const [unknown] = planWith({ candidates: [candidateWith({ createdAt: null, idleSince: null })] }).entries;
  expect(unknown).toMatchObject({ ageMs: null, idleMs: null });
});
