/** Every field of a policy file, as the cleanup reads it. */
import { expect, test } from 'vitest';
import { readPolicy } from '../../../src/retention/index.js';
import { policyWith, ruleWith } from './builders.js';

const hourMs = 3_600_000;
const week = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

test('all fields', () => {
  const text = `name: weekly
timeZone: Europe/Vienna
windows: [{between: 22:30 and 05:15, days: [sat, sun]}, {between: 01:00 and 02:00}]
limits: {maxActions: 7, maxPercent: 12.5}
protect: [golden-*]
warnBeforeExpiry: 1d12h
notify: {url: "https://a.example"}
rules:
  - rule: one
    action: delete-snapshot
    keepLast: 2
    keepLastPer: creator
    keepSnapshots: 4
    snapshotName: tmp-*
    snapshotOlderThan: 90s
    match:
      name: [ci-*, build-*]
      state: archived
      olderThan: 30m
      idleFor: 1.5h
      environment: [web, null]
      creator: ann
      costAbove: 2.5
      dataExpired: false
      owned: [closed, none]
`;
  const match = {
    ...{ names: ['ci-*', 'build-*'], states: ['archived'], olderThanMs: hourMs / 2, idleForMs: 1.5 * hourMs },
    ...{ environments: ['web', null], creators: ['ann'], costAboveDollars: 2.5, dataExpired: false },
    owned: ['closed' as const, 'none' as const],
  };
  expect(readPolicy(text, 'p.yaml')).toEqual(
    policyWith({
      ...{ name: 'weekly', timeZone: 'Europe/Vienna', limits: { maxActions: 7, maxPercent: 12.5 } },
      windows: [
        { fromMinute: 1_350, toMinute: 315, days: ['sat', 'sun'] },
        { fromMinute: 60, toMinute: 120, days: week as never },
      ],
      ...{ protect: ['golden-*'], warnBeforeExpiryMs: 36 * hourMs, notify: { url: 'https://a.example' } },
      rules: [
        ruleWith({
          ...{ rule: 'one', action: 'delete-snapshot', keepLast: 2, keepLastPer: 'creator', keepSnapshots: 4 },
          ...{ snapshotNames: ['tmp-*'], snapshotsOlderThanMs: 90_000, match },
        }),
      ],
    }),
  );
});

test('without conditions, a rule fits everything', () => {
  const { rules, notify } = readPolicy('rules: [{rule: old, action: stop}]', 'p.yaml');
  expect(rules).toEqual([ruleWith({ action: 'stop' })]);
  expect(notify).toBeNull();
});

test.each([
  ['36600d', 36_600 * 24 * hourMs],
  ['2w', 14 * 24 * hourMs],
  ['1d12h', 36 * hourMs],
])('the duration %s', (olderThan, ms) => {
  const [rule] = readPolicy(`rules: [{rule: a, action: stop, match: {olderThan: ${olderThan}}}]`, 'p.yaml').rules;
  expect(rule?.match.olderThanMs).toBe(ms);
});

test('a duration of more than a hundred years is refused', () => {
  const text = 'rules: [{rule: a, action: stop, match: {olderThan: 36601d}}]';
  expect(() => readPolicy(text, 'p.yaml')).toThrow('olderThan: is longer than a hundred years');
});

test.each([
  ['open', false],
  ['unknown', false],
  ['other-deployment', false],
  ['closed', true],
  ['kept', true],
  ['none', true],
  ['[open, kept]', true],
])('owned: %s may be acted on: %s', (owned, isAccepted) => {
  const read = () => readPolicy(`rules: [{rule: a, action: stop, match: {owned: ${owned}}}]`, 'p.yaml');
  if (isAccepted) expect(read()).toBeDefined();
  else expect(read).toThrow(`the owner status ${owned} only allows the action keep`);
});

test('owner statuses that nothing may be done to are all named', () => {
  const text = 'rules: [{rule: a, action: stop, match: {owned: [open, unknown]}}]';
  expect(() => readPolicy(text, 'p.yaml')).toThrow('the owner status open or unknown only allows the action keep');
});
