/** Plans of random fleets by random policies. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CleanupPolicy } from '../../../src/protocol/cleanup-policy.js';
import { fitsAny } from '../../../src/retention/glob.js';
import { groupOf } from '../../../src/retention/match.js';
import { planCleanup } from '../../../src/retention/plan.js';
import { fleet, nowMs, ownerIn, policy, type World } from './worlds.js';

const planOf = (world: World, by: CleanupPolicy, takenTonight = 0) =>
  planCleanup({
    policy: by,
    nowMs,
    candidates: [...world.values()].map((truth) => ({ facts: truth.facts, owner: ownerIn(truth) })),
    snapshots: new Map([...world].map(([id, { snapshots }]) => [id, snapshots])),
    takenTonight,
    fleetTonight: null,
  });

const holds = (property: (world: World, by: CleanupPolicy) => void) =>
  fc.assert(fc.property(fleet, policy, property), { numRuns: 500 });

describe('a plan', () => {
  test('lists every sandbox once, with an action or the reason for none', () =>
    holds((world, by) => {
      const { entries, fleet: size } = planOf(world, by);
      expect(size).toBe(world.size);
      expect(entries.map(({ sandboxId }) => sandboxId).sort()).toEqual([...world.keys()].sort());
      for (const { action, reason, why } of entries)
        expect((action === null) === (reason !== null && why !== null)).toBe(true);
    }));

  test('never includes protected or foreign sandboxes, and never deletes what another has created', () =>
    holds((world, by) => {
      for (const { action, facts, owner } of planOf(world, by).actions) {
        expect(fitsAny(by.protect, facts.name ?? '')).toBe(false);
        expect(['none', 'closed']).toContain(owner.status);
        if (action !== 'stop') expect([null, 'owner']).toContain(facts.access);
      }
    }));

  test('stays within the limits of the night, including earlier runs', () =>
    fc.assert(
      fc.property(fleet, policy, fc.nat({ max: 4 }), (world, by, taken) => {
        const { actions, allowed, entries } = planOf(world, by, taken);
        const share = Math.floor((world.size * by.limits.maxPercent) / 100);
        expect(actions.length).toBeLessThanOrEqual(allowed);
        expect(actions.length).toBeLessThanOrEqual(Math.max(0, Math.min(by.limits.maxActions, share) - taken));
        expect(actions.map(({ number }) => number)).toEqual(actions.map((_, index) => index + 1));
        const left = entries.filter(({ reason }) => reason === 'over_limit');
        const saying = `allows ${allowed}${taken > 0 ? ' more' : ''} tonight`;
        for (const { why } of left) expect(why).toContain(saying);
      }),
      { numRuns: 500 },
    ));

  test('takes the oldest first: nothing left for the next night is older than what is done', () =>
    holds((world, by) => {
      const { entries } = planOf(world, by);
      const firstLeft = entries.findIndex(({ reason }) => reason === 'over_limit');
      if (firstLeft < 0) return;
      expect(entries.slice(firstLeft).filter(({ action }) => action !== null)).toEqual([]);
    }));

  test('keeps the newest of each group, and names them', () =>
    holds((world, by) => {
      const { actions } = planOf(world, by);
      for (const { rule: title, facts, keeps } of actions) {
        const rule = by.rules.find((known) => known.rule === title);
        if (!rule) throw new Error('no such rule');
        expect(keeps).not.toContain(facts.id);
        expect(keeps.length).toBeLessThanOrEqual(rule.keepLast);
        for (const id of keeps) {
          const kept = world.get(id)?.facts;
          if (!kept) throw new Error('kept nothing');
          expect(groupOf(rule, kept)).toBe(groupOf(rule, facts));
          // A sandbox of unknown age counts as new.
          const keptMs = kept.createdAt === null ? Number.POSITIVE_INFINITY : Date.parse(kept.createdAt);
          const ownMs = facts.createdAt === null ? Number.POSITIVE_INFINITY : Date.parse(facts.createdAt);
          if (facts.dataExpiredAt === null && facts.state !== 'cancelled') expect(keptMs).toBeGreaterThanOrEqual(ownMs);
        }
        if (rule.keepLast > 0 && facts.dataExpiredAt === null) expect(keeps).toHaveLength(rule.keepLast);
      }
    }));

  test('deletes no named snapshot unless the rule names it, and keeps the newest', () =>
    holds((world, by) => {
      for (const { snapshotId, facts, rule: title } of planOf(world, by).actions) {
        if (snapshotId === null) continue;
        const snapshots = world.get(facts.id)?.snapshots ?? [];
        expect([null, 'tmp-1']).toContain(snapshots.find(({ id }) => id === snapshotId)?.name);
        const going = planOf(world, by).actions.filter((action) => action.facts.id === facts.id).length;
        expect(snapshots.length - going).toBeGreaterThanOrEqual(
          by.rules.find(({ rule }) => rule === title)?.keepSnapshots ?? 0,
        );
      }
    }));

  test('is the same for the same facts in another order', () =>
    holds((world, by) => {
      expect(planOf(new Map([...world].reverse()), by)).toEqual(planOf(world, by));
    }));
});
