/**
 * Actions on a fleet that changes between plan and apply, and during apply. The expected result is computed
 * independently (`truths.ts`). Without any one of the guards, the check fails.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { doAction } from '../../../activities/cleanup/guarded-action.js';
import type { PlannedAction } from '../../../src/protocol/cleanup-plan.js';
import type { CleanupPolicy } from '../../../src/protocol/cleanup-policy.js';
import { type Guard, guards, judge } from '../../../src/retention/guards.js';
import { planCleanup } from '../../../src/retention/plan.js';
import { changingWorld } from './changing-world.js';
import { type Circumstances, wrongs } from './truths.js';
import { changes, fleet, nowMs, ownerIn, policy, type World } from './worlds.js';

const circumstances = fc.record({
  allowed: fc.constantFrom(0, 1, 5, 100),
  nowMs: fc.constantFrom(nowMs, nowMs + 3 * 86_400_000),
});
const claimOptions = { purpose: 'test', ends: 'any' } as const;
const titles = fc.shuffledSubarray(['first', 'second', 'third'], { minLength: 1 });
/** Changes before the first action, and at the calls of the actions. */
const script = fc.array(fc.tuple(fc.nat({ max: 30 }), changes), { minLength: 1, maxLength: 4 });

/**
 * Plans and applies correct plans, and plans that are wrong from the start, so that only the guards remain.
 * @param seed default: that of the run
 */
async function firstWrong(using: readonly Guard[], numRuns: number, seed?: number): Promise<string> {
  const { failed, errorInstance } = await fc.check(
    fc.asyncProperty(
      fleet,
      policy,
      script,
      circumstances,
      fc.boolean(),
      titles,
      async (world, by, at, given, honest, rules) => {
        const planned = honest ? honestPlan(world, by) : hostilePlan(world, by, rules);
        await applyAll(planned, { world, by, at, given, using });
      },
    ),
    // The reason is in the first failure, and a shrunk one costs ten times as much.
    { numRuns, endOnFailure: true, ...(seed !== undefined && { seed }) },
  );
  return failed ? (errorInstance as Error).message : '';
}

interface Applied {
  readonly world: World;
  readonly by: CleanupPolicy;
  readonly at: readonly (readonly [number, (world: World) => World])[];
  readonly given: Circumstances;
  readonly using: readonly Guard[];
}

/** @throws Error with the reason against the first wrong action */
async function applyAll(planned: readonly PlannedAction[], { world, by, at, given, using }: Applied): Promise<void> {
  const changing = changingWorld(world, at, given.nowMs);
  for (const action of planned) {
    const { ports, seen } = changing.begin(action);
    const isRepeated = action.number % 3 === 0;
    const verdictOf = (look: Parameters<typeof judge>[0]) => judge(look, using);
    const options = { policy: by, allowed: given.allowed, isRepeated, claimOptions, ports, verdictOf };
    const { did, claim } = await doAction(action, options);
    if (seen.claims !== seen.releases + (claim === null ? 0 : 1)) throw new Error('a claim was not given back');
    if (seen.acted === null) {
      if (did !== 'skipped' && !isRepeated) throw new Error('it says that it did what it did not do');
      continue;
    }
    const found = [...wrongs(action, seen.truth(), by, given), ...seen.disorder()];
    if (found.length > 0) throw new Error(found.join(', '));
  }
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

/** A plan with an action for every sandbox, right or wrong. */
function hostilePlan(world: World, by: CleanupPolicy, names: readonly string[]): PlannedAction[] {
  const truths = [...world.values()];
  return truths.map((truth, index) => {
    const rule = by.rules.find((known) => known.rule === names[index % names.length]) ?? by.rules[0];
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

describe('an applied action', () => {
  test('is never on a sandbox that is protected, owned, leased, unknown, foreign, changed, over the limit or invalid', async () => {
    expect(await firstWrong(guards, 3_000)).toBe('');
  });

  test('is the planned one if nothing has changed', async () => {
    const property = fc.asyncProperty(fleet, policy, async (world, by) => {
      const free = new Map([...world].map(([id, truth]) => [id, { ...truth, leasedBy: [] }]));
      const changing = changingWorld(free, [], nowMs);
      for (const action of honestPlan(free, by)) {
        const { ports, seen } = changing.begin(action);
        await doAction(action, { policy: by, allowed: 100, isRepeated: false, claimOptions, ports });
        expect(seen.acted).toBe(action.snapshotId ?? action.facts.id);
      }
    });
    await fc.assert(property, { numRuns: 300 });
  });

  test.each(guards.map(({ name }) => name))('is wrong somewhere without the guard "%s"', async (name) => {
    const wrong = await firstWrong(
      guards.filter((guard) => guard.name !== name),
      20_000,
      // Some guards are needed so rarely that most seeds need ten times as many examples as this one: it needs 1,057.
      4,
    );
    expect(wrong).toContain(name);
  });
});
