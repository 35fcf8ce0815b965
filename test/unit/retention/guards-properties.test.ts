/**
 * What is done to a fleet that changes between plan and apply. The truth is checked here on its own, without the code
 * that is tested; and each guard, taken out, lets something through that this notices.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ApplyLook, type Guard, guards, judge } from '../../../src/retention/guards.js';
import { planCleanup } from '../../../src/retention/plan.js';
import type { PlannedAction } from '../../../src/retention/plan-types.js';
import type { CleanupPolicy } from '../../../src/retention/policy.js';
import { changes, fleet, nowMs, ownerIn, policy, type Truth, type World } from './worlds.js';

/** Whoever applies, with what it reads right before it acts. */
function apply(
  planned: readonly PlannedAction[],
  world: World,
  by: CleanupPolicy,
  rest: Rest,
  using: readonly Guard[],
) {
  return planned.filter((action) => {
    const truth = world.get(action.facts.id);
    const look: ApplyLook = {
      policy: by,
      planned: action,
      nowMs: rest.nowMs,
      facts: truth?.facts ?? null,
      owner: truth ? ownerIn(truth) : action.owner,
      leasedBy: truth?.leasedBy ?? [],
      claimGranted: (truth?.leasedBy ?? []).length === 0,
      allowed: rest.allowed,
      missingKeeps: action.keeps.filter((id) => !world.has(id)),
      snapshots: truth?.snapshots ?? [],
    };
    return judge(look, using).isDue;
  });
}

interface Rest {
  readonly allowed: number;
  readonly nowMs: number;
}

/** Why an action should not have been done, by the truth; empty where it was right. */
function wrongs(
  action: PlannedAction,
  truth: Truth | undefined,
  world: World,
  by: CleanupPolicy,
  rest: Rest,
): string[] {
  if (!truth) return ['gone'];
  const { facts, seen, leasedBy, snapshots } = truth;
  const name = facts.name ?? '';
  const found: string[] = [];
  const isProtected = by.protect.some((p) => (p.endsWith('*') ? name.startsWith(p.slice(0, -1)) : name === p));
  if (isProtected) found.push('protected');
  if (name.startsWith('sf-theirs-')) found.push('owner');
  if (name.startsWith('sf-mine-')) {
    const execution = name.split('-')[3] ?? '';
    const isOrphan = seen?.isOpen === false && seen.closedFirstRunIds.some((runId) => runId.endsWith(execution));
    if (!isOrphan) found.push('owner');
  }
  if (leasedBy.length > 0) found.push('leased');
  const seenAs = (known: Truth['facts']) => JSON.stringify({ ...known, dollars: null });
  if (seenAs(action.facts) !== seenAs(facts)) found.push('changed');
  if (action.number > rest.allowed) found.push('limit');
  if (action.action !== 'stop' && facts.access !== null && facts.access !== 'owner') found.push('access');
  const monday = new Date(rest.nowMs).getUTCDay() === 1;
  if (by.windows.length > 0 && !monday) found.push('window');
  if (action.keeps.includes(facts.id) || action.keeps.some((id) => !world.has(id))) found.push('newest');
  if (!fits(by, action, facts)) found.push('rule');
  if (action.snapshotId !== null) {
    const snapshot = snapshots.find(({ id }) => id === action.snapshotId);
    const rank = ({ createdAt }: { readonly createdAt: string | null }) => createdAt ?? 'unknown';
    const newer = snapshots.filter((other) => other !== snapshot && snapshot && rank(other) >= rank(snapshot));
    const isNewest = newer.length === 0;
    const mayHaveName = by.rules.some(({ rule, snapshotNames }) => rule === action.rule && snapshotNames.length > 0);
    const isNamed = snapshot?.name !== null && !(mayHaveName && snapshot?.name === 'tmp-1');
    if (isNamed || isNewest) found.push('snapshot');
  }
  return found;
}

/** Whether the rule asks for this at all, as far as a few plain conditions tell. */
function fits({ rules }: CleanupPolicy, { rule: title, action }: PlannedAction, facts: Truth['facts']): boolean {
  const rule = rules.find((known) => known.rule === title);
  if (rule?.action !== action) return false;
  const { states, olderThanMs, dataExpired } = rule.match;
  if (states !== null ? !states.includes(facts.state) : action !== 'stop' && !/archived|error/.test(facts.state))
    return false;
  const isYoung =
    facts.createdAt === null || nowMs + 3 * 86_400_000 - Date.parse(facts.createdAt) <= (olderThanMs ?? -1);
  if (olderThanMs !== null && isYoung) return false;
  return dataExpired === null || dataExpired === (facts.dataExpiredAt !== null);
}

/** Plans, changes the world, and applies: honest plans, and others that are wrong from the start. */
function wrongsOf(using: readonly Guard[], numRuns: number) {
  const rest = fc.record({
    allowed: fc.constantFrom(0, 1, 5, 100),
    nowMs: fc.constantFrom(nowMs, nowMs + 3 * 86_400_000),
  });
  const titles = fc.shuffledSubarray(['first', 'second', 'third'], { minLength: 1 });
  return fc.check(
    fc.property(fleet, policy, changes, rest, fc.boolean(), titles, (world, by, change, at, honest, rules) => {
      const planned = honest ? honestPlan(world, by) : hostilePlan(world, by, rules);
      const now = change(world);
      for (const action of apply(planned, now, by, at, using)) {
        const found = wrongs(action, now.get(action.facts.id), now, by, at);
        if (found.length > 0) throw new Error(found.join(', '));
      }
    }),
    { numRuns },
  );
}

const honestPlan = (world: World, by: CleanupPolicy) =>
  planCleanup({
    policy: by,
    nowMs,
    candidates: [...world.values()].map((truth) => ({ facts: truth.facts, owner: ownerIn(truth) })),
    snapshots: new Map([...world].map(([id, { snapshots }]) => [id, snapshots])),
    takenTonight: 0,
    fleetTonight: null,
  }).actions;

/** Every sandbox is planned for something, whatever speaks against it: only the guards are left. */
function hostilePlan(world: World, by: CleanupPolicy, titles: readonly string[]): PlannedAction[] {
  const truths = [...world.values()];
  return truths.map((truth, index) => {
    const rule = by.rules.find((known) => known.rule === titles[index % titles.length]) ?? by.rules[0];
    const asked = rule?.action ?? 'stop';
    const action = asked === 'keep' ? 'delete-sandbox' : asked;
    return {
      number: index + 1,
      action,
      rule: rule?.rule ?? '',
      facts: truth.facts,
      owner: ownerIn(truth),
      snapshotId: action === 'delete-snapshot' ? (truth.snapshots[index % 4]?.id ?? 'snap_none') : null,
      keeps: index % 3 === 0 ? [truths[(index + 1) % truths.length]?.facts.id ?? ''] : [],
    };
  });
}

describe('what is applied', () => {
  test('is never protected, owned, leased, unknown, of others, changed, over the limit, or wrong in another way', () => {
    const { failed, counterexample } = wrongsOf(guards, 3_000);
    expect(failed, JSON.stringify(counterexample)).toBe(false);
  });

  test('is what was planned, where nothing has changed', () => {
    fc.assert(
      fc.property(fleet, policy, (world, by) => {
        const free = new Map([...world].map(([id, truth]) => [id, { ...truth, leasedBy: [] }]));
        const planned = honestPlan(free, by);
        expect(apply(planned, free, by, { allowed: 100, nowMs }, guards)).toEqual(planned);
      }),
      { numRuns: 500 },
    );
  });

  test.each(guards.map(({ name }) => name))('is wrong somewhere without the guard "%s"', (name) => {
    const { failed, errorInstance } = wrongsOf(
      guards.filter((guard) => guard.name !== name),
      20_000,
    );
    expect(failed).toBe(true);
    expect((errorInstance as Error).message).toContain(name);
  });
});
