/** Which sandboxes a rule fits, and which of them form a group. */
import { describe, expect, test } from 'vitest';
import type { SandboxFacts } from '../../../src/protocol/cleanup-plan.js';
import type { KeepLastPer, Rule, RuleMatch } from '../../../src/protocol/cleanup-policy.js';
import type { Ownership } from '../../../src/protocol/sandbox-owner.js';
import { groupOf, ruleFor, sinceMs } from '../../../src/retention/match.js';
import { candidateWith, daysAgo, factsWith, nobody, nowMs, policyWith, ruleWith } from './builders.js';

const dayMs = 86_400_000;
const owned = (status: Ownership['status']): Ownership => ({ status, workflowId: 'sf-mine-a' });

const fits = (rule: Rule, facts: Partial<SandboxFacts>, owner?: Ownership) =>
  ruleFor(policyWith({ rules: [rule] }), candidateWith(facts, owner), nowMs) === rule;

describe('a condition of a rule', () => {
  test.each<[string, Partial<RuleMatch>, Partial<SandboxFacts>, boolean]>([
    ['name, equal', { names: ['ci-*'] }, { name: 'ci-1' }, true],
    ['name, other', { names: ['ci-*'] }, { name: 'build-1' }, false],
    ['name, missing', { names: ['*'] }, { name: null }, false],
    ['no name condition', {}, { name: null }, true],
    ['state, named', { states: ['ready'] }, { state: 'ready' }, true],
    ['state, another', { states: ['ready'] }, { state: 'archived' }, false],
    ['no state condition, of a deletion, a stopped one', {}, { state: 'archived' }, true],
    ['no state condition, of a deletion, a failed one', {}, { state: 'error' }, true],
    ['no state condition, of a deletion, a running one', {}, { state: 'ready' }, false],
    ['age, older', { olderThanMs: 9 * dayMs }, { createdAt: daysAgo(10) }, true],
    ['age, equal', { olderThanMs: 10 * dayMs }, { createdAt: daysAgo(10) }, false],
    ['age, unknown', { olderThanMs: 0 }, { createdAt: null }, false],
    ['age, no date', { olderThanMs: 0 }, { createdAt: 'yesterday' }, false],
    ['idle, longer', { idleForMs: dayMs }, { idleSince: daysAgo(2) }, true],
    ['idle, shorter', { idleForMs: 3 * dayMs }, { idleSince: daysAgo(2) }, false],
    ['idle, unknown', { idleForMs: 0 }, { idleSince: null }, false],
    ['cost, above', { costAboveDollars: 5 }, { dollars: 6 }, true],
    ['cost, equal', { costAboveDollars: 5 }, { dollars: 5 }, false],
    ['cost, unknown', { costAboveDollars: 0 }, { dollars: null }, false],
    ['data expired', { dataExpired: true }, { dataExpiredAt: daysAgo(1) }, true],
    ['data expired, but it is not', { dataExpired: true }, { dataExpiredAt: null }, false],
    ['data not expired', { dataExpired: false }, { dataExpiredAt: null }, true],
    ['data not expired, but it is', { dataExpired: false }, { dataExpiredAt: daysAgo(1) }, false],
    ['environment, equal', { environments: ['web-*'] }, { environment: 'web-1' }, true],
    ['environment, other', { environments: ['web-*'] }, { environment: 'api' }, false],
    ['environment, none, and the rule wants one', { environments: ['*'] }, { environment: null }, false],
    ['environment, none, as the rule wants', { environments: ['web', null] }, { environment: null }, true],
    ['environment, one of several', { environments: [null, 'web'] }, { environment: 'web' }, true],
    ['environment, one, and the rule wants none', { environments: [null] }, { environment: 'web' }, false],
    ['creator, by name', { creators: ['ann'] }, { createdBy: 'ann', createdById: 'user_1' }, true],
    ['creator, by id', { creators: ['user_*'] }, { createdBy: 'ann', createdById: 'user_1' }, true],
    ['creator, other', { creators: ['bob'] }, { createdBy: 'ann', createdById: 'user_1' }, false],
    ['creator, unknown', { creators: ['*'] }, {}, false],
  ])('%s', (_, match, facts, expected) => {
    expect(fits(ruleWith({ match }), facts)).toBe(expected);
  });

  test('without a state fits every state, of a stop', () => {
    const stop = ruleWith({ action: 'stop' });
    expect(['ready', 'archived', 'running'].map((state) => fits(stop, { state }))).toEqual([true, true, true]);
  });

  test('all must hold', () => {
    const match = { names: ['ci-*'], environments: ['web'], creators: ['ann'] };
    const whole = { name: 'ci-1', environment: 'web', createdBy: 'ann' };
    const others = [{ name: 'x' }, { environment: 'api' }, { createdBy: 'bob' }];
    expect(fits(ruleWith({ match }), whole)).toBe(true);
    expect(others.map((other) => fits(ruleWith({ match }), { ...whole, ...other }))).toEqual([false, false, false]);
  });
});

describe('what a job has kept on purpose', () => {
  const keep = ruleWith({ action: 'keep' });
  test.each<[string, Rule, Ownership, boolean]>([
    ['fits no rule that does not select it', ruleWith(), owned('kept'), false],
    ['fits a rule that keeps', keep, owned('kept'), true],
    ['fits a rule that selects it', ruleWith({ match: { owned: ['kept'] } }), owned('kept'), true],
    ['and no other fits that rule', ruleWith({ match: { owned: ['kept'] } }), owned('closed'), false],
    ['while all others fit a rule without owners', ruleWith(), nobody, true],
  ])('%s', (_, rule, owner, expected) => {
    expect(fits(rule, {}, owner)).toBe(expected);
  });
});

test('the first rule that fits counts', () => {
  const rules = [ruleWith({ rule: 'other', match: { names: ['x'] } }), ruleWith({ rule: 'one' }), ruleWith()];
  expect(ruleFor(policyWith({ rules }), candidateWith(), nowMs)?.rule).toBe('one');
});

test.each<[KeepLastPer, Partial<RuleMatch>, Partial<SandboxFacts>, string]>([
  ['rule', {}, {}, ''],
  ['name', { names: ['ci-*', '*'] }, { name: 'ci-1' }, 'ci-*'],
  ['name', { names: ['ci-*', '*'] }, { name: 'web' }, '*'],
  ['name', {}, { name: 'web' }, '*'],
  ['name', {}, { name: null }, '*'],
  ['name', { names: ['x'] }, { name: null }, ''],
  ['environment', {}, { environment: 'web' }, 'web'],
  ['environment', {}, { environment: null }, ''],
  ['creator', {}, { createdBy: 'ann', createdById: 'user_1' }, 'user_1'],
  ['creator', {}, { createdBy: 'ann' }, 'ann'],
  ['creator', {}, {}, ''],
])('a group by %s: %j %j is "%s"', (keepLastPer, match, facts, group) => {
  expect(groupOf(ruleWith({ keepLastPer, match }), factsWith(facts))).toBe(group);
});

test('the time since a moment is unknown if the moment is', () => {
  expect([sinceMs(daysAgo(1), nowMs), sinceMs(null, nowMs), sinceMs('soon', nowMs)]).toEqual([
    dayMs,
    undefined,
    undefined,
  ]);
});
