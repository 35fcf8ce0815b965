/** What the guards say right before an action, and why they refuse it. */
import { describe, expect, test } from 'vitest';
import type { PlannedAction } from '../../../src/protocol/cleanup-plan.js';
import { type ApplyLook, judge } from '../../../src/retention/guards.js';
import { daysAgo, factsWith, nobody, nowMs, policyWith, ruleWith } from './builders.js';

const planned: PlannedAction = {
  ...{
    number: 1,
    action: 'delete-sandbox',
    rule: 'old',
    facts: factsWith(),
    owner: nobody,
    snapshotId: null,
    keeps: [],
  },
};
const look: ApplyLook = {
  ...{ policy: policyWith(), planned, nowMs, facts: factsWith(), owner: nobody },
  ...{ leasedBy: [], claimGranted: true, allowed: 1, missingKeeps: [], snapshots: [] },
};
const owner = { status: 'open', workflowId: 'sf-mine-a' } as const;
const snapshots = [1, 2, 3].map((days) => ({ id: `snap_${days}`, name: null, createdAt: daysAgo(days) }));
const ofSnapshot = (snapshotId: string): Partial<ApplyLook> => ({
  policy: policyWith({
    rules: [ruleWith({ rule: 'first', match: { names: ['x'] } }), ruleWith({ action: 'delete-snapshot' })],
  }),
  planned: { ...planned, action: 'delete-snapshot', snapshotId },
  snapshots,
});

describe('an action is due', () => {
  test.each<[string, Partial<ApplyLook>]>([
    ['if nothing has changed', {}],
    ['although it costs more than at the time of the plan', { facts: factsWith({ dollars: 9 }) }],
    ['up to the limit of the night', { planned: { ...planned, number: 3 }, allowed: 3 }],
    ['while the sandboxes that are kept in its place exist', { planned: { ...planned, keeps: ['bx_b'] } }],
    ['for a snapshot that is none of the newest', ofSnapshot('snap_3')],
    [
      'by the cost that the list showed, because a single read shows none',
      {
        policy: policyWith({ rules: [ruleWith({ match: { costAboveDollars: 5 } })] }),
        planned: { ...planned, facts: factsWith({ dollars: 6 }) },
      },
    ],
    [
      'to stop what somebody else made',
      {
        policy: policyWith({ rules: [ruleWith({ action: 'stop' })] }),
        ...{ planned: { ...planned, action: 'stop', facts: factsWith({ state: 'ready', access: 'use' }) } },
        facts: factsWith({ state: 'ready', access: 'use' }),
      },
    ],
  ])('%s', (_, over) => {
    expect(judge({ ...look, ...over })).toEqual({ isDue: true });
  });
});

describe('an action is refused', () => {
  test.each<[string, string, Partial<ApplyLook>]>([
    ['gone', 'it no longer exists', { facts: null }],
    ['protected', 'its name is protected', { policy: policyWith({ protect: ['ci-*'] }) }],
    ['owner', 'its owner sf-mine-a is running', { owner }],
    ['leased', 'it is leased by sf-a, sf-b', { claimGranted: false, leasedBy: ['sf-a', 'sf-b'] }],
    ['leased', 'something else is deleting it', { claimGranted: false }],
    [
      'changed',
      'it has changed since the plan: state, idleSince',
      { facts: factsWith({ state: 'ready', idleSince: null }) },
    ],
    ['rule', 'its rule no longer matches', { policy: policyWith({ rules: [] }) }],
    ['rule', 'its rule no longer matches', { policy: policyWith({ rules: [ruleWith({ rule: 'another' })] }) }],
    ['rule', 'its rule no longer matches', { policy: policyWith({ rules: [ruleWith({ action: 'keep' })] }) }],
    ['newest', 'it is one of the newest of its group', { planned: { ...planned, keeps: ['bx_a', 'bx_b'] } }],
    [
      'newest',
      'bx_b, bx_c, which was kept in its place, no longer exists',
      { planned: { ...planned, keeps: ['bx_b', 'bx_c'] }, missingKeeps: ['bx_b', 'bx_c'] },
    ],
    ['snapshot', 'the snapshot no longer exists', ofSnapshot('snap_9')],
    ['snapshot', 'the snapshot was renamed, or is now one of the newest', ofSnapshot('snap_1')],
    [
      'access',
      'only its creator may delete it',
      { planned: { ...planned, facts: factsWith({ access: 'use' }) }, facts: factsWith({ access: 'use' }) },
    ],
    [
      'window',
      'the window has closed (09:00 to 10:00, UTC)',
      {
        policy: policyWith({
          windows: [{ fromMinute: 540, toMinute: 600, days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] }],
        }),
      },
    ],
    ['limit', 'the limit per night is 2', { planned: { ...planned, number: 3 }, allowed: 2 }],
  ])('by the guard "%s": %s', (guard, why, over) => {
    expect(judge({ ...look, ...over })).toEqual({ isDue: false, guard, why });
  });
});
