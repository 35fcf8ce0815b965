/** Warnings before the service deletes the data of a protected sandbox. */
import { describe, expect, test } from 'vitest';
import type { SandboxFacts } from '../../../src/protocol/cleanup-plan.js';
import { dataExpiresAtMs, warningsOf } from '../../../src/retention/plan.js';
import { candidateWith, daysAgo, factsWith, nowMs, policyWith } from './builders.js';

const dayMs = 86_400_000;
const policy = policyWith({ protect: ['golden-*'], warnBeforeExpiryMs: 3 * dayMs });
const golden = (id: string, stoppedDaysAgo: number, over: Partial<SandboxFacts> = {}) =>
  candidateWith({ id, name: `golden-${id}`, stoppedAt: daysAgo(stoppedDaysAgo), ...over });

test('come for protected sandboxes whose data expires soon, the soonest first', () => {
  const candidates = [golden('b', 12), golden('a', 13), golden('c', 11.5)];
  expect(warningsOf(policy, candidates, nowMs)).toEqual([
    { sandboxId: 'a', name: 'golden-a', dataExpiresAt: daysAgo(-1) },
    { sandboxId: 'b', name: 'golden-b', dataExpiresAt: daysAgo(-2) },
    { sandboxId: 'c', name: 'golden-c', dataExpiresAt: daysAgo(-2.5) },
  ]);
});

test.each([
  ['as long before as the policy says', golden('a', 11), 1],
  ['not earlier', golden('a', 10.9), 0],
  ['not for a sandbox that is not protected', golden('a', 13, { name: 'ci-1' }), 0],
  ['not for a sandbox without a name', golden('a', 13, { name: null }), 0],
  ['not while the sandbox runs', golden('a', 13, { state: 'ready' }), 0],
])('%s', (_, candidate, count) => {
  expect(warningsOf(policy, [candidate], nowMs)).toHaveLength(count);
});

test('a policy without warnings gives none', () => {
  expect(warningsOf({ ...policy, warnBeforeExpiryMs: null }, [golden('a', 13)], nowMs)).toEqual([]);
});

describe('the data of a sandbox expires', () => {
  test.each<[string, Partial<SandboxFacts>, number | undefined]>([
    ['14 days after its stop', { stoppedAt: daysAgo(4) }, nowMs + 10 * dayMs],
    ['never while it runs', { state: 'idle', stoppedAt: daysAgo(4) }, undefined],
    ['at an unknown time if its stop is unknown', { stoppedAt: null }, undefined],
    ['not again', { dataExpiredAt: daysAgo(1) }, undefined],
    ['never if there is none', { saved: 'none' }, undefined],
  ])('%s', (_, over, expected) => {
    expect(dataExpiresAtMs(factsWith(over))).toBe(expected);
  });
});
