import { describe, expect, test } from 'vitest';
import type { SandflowError } from '../../../src/errors/sandflow-error.js';
import { readPolicy } from '../../../src/retention/index.js';
import { readSource } from '../house/source-imports.js';

const dayMs = 86_400_000;

function problemsOf(text: string): string[] {
  try {
    readPolicy(text, 'p.yaml');
    return [];
  } catch (error) {
    expect((error as SandflowError).code).toBe('bad_policy');
    return (error as Error).message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
}

const minimal = 'rules:\n  - rule: old\n    action: stop\n';

describe('a policy', () => {
  test('says what is wrong in words, and not in those of the parser', () => {
    const text = `limits: {maxActions: many, maxPercent: 200}
protect: demo
rules:
  - rule: 5
    match: {state: [idle, gone], olderThan: 3, owned: mine}
    action: burn
    keepLast: -1
  - match: {}
    action: stop
    colour: red
`;
    expect(problemsOf(text)).toEqual([
      'p.yaml:1: limits.maxActions: must be a number, not "many"',
      'p.yaml:1: limits.maxPercent: must be at most 100',
      'p.yaml:2: protect: must be a list, not "demo"',
      'p.yaml:4: rules[0].rule: must be text, not 5',
      expect.stringMatching(/^p\.yaml:5: rules\[0\]\.match\.state\[1\]: must be \w+(?:, \w+)* or \w+, not "gone"$/),
      'p.yaml:5: rules[0].match.olderThan: must be text, not 3',
      expect.stringMatching(/^p\.yaml:5: rules\[0\]\.match\.owned: must be .* or .*, not "mine"$/),
      'p.yaml:6: rules[0].action: must be stop, escalate, delete-sandbox, delete-snapshot or keep, not "burn"',
      'p.yaml:7: rules[0].keepLast: must be at least 0',
      'p.yaml:8: rules[1].rule: is missing',
      expect.stringMatching(/^p\.yaml:10: rules\[1\]\.colour: unknown field; the fields are rule, match, action, /),
    ]);
  });

  test('is read from the example, with durations in ms', () => {
    const policy = readPolicy(readSource('examples/cleanup-policy.yaml'), 'example');
    expect(policy).toMatchObject({
      name: 'nightly',
      timeZone: 'Europe/Vienna',
      windows: [{ fromMinute: 60, toMinute: 300 }],
      warnBeforeExpiryMs: 3 * dayMs,
    });
    const builds = policy.rules.find(({ rule }) => rule === 'old builds');
    expect(builds).toMatchObject({ keepLast: 3, keepLastPer: 'environment', action: 'delete-sandbox' });
    expect(builds?.match).toMatchObject({ names: ['ci-*', 'build-*'], olderThanMs: 7 * dayMs, states: null });
  });

  test('has careful defaults', () => {
    expect(readPolicy(minimal, 'p.yaml')).toMatchObject({
      name: 'nightly',
      timeZone: 'UTC',
      windows: [],
      limits: { maxActions: 100, maxPercent: 25 },
      protect: [],
      warnBeforeExpiryMs: 3 * dayMs,
      notify: null,
      rules: [{ keepLast: 0, keepSnapshots: 1, match: { names: null, owned: null } }],
    });
  });

  test('may disable the warning, and may be JSON', () => {
    const text = JSON.stringify({ warnBeforeExpiry: null, rules: [{ rule: 'a', action: 'keep' }] });
    expect(readPolicy(text, 'p.json').warnBeforeExpiryMs).toBeNull();
  });
});

describe('a problem in a policy is reported with its line', () => {
  test.each([
    ['syntax', 'name: x\nrules: [', 'p.yaml:2: '],
    ['a key twice', `name: a\nname: b\n${minimal}`, 'p.yaml:2: Map keys must be unique'],
    ['no rules', 'name: x\nrules: []', 'p.yaml:2: rules: must have at least one rule'],
    ['an empty file', '', 'p.yaml:1: rules: '],
    ['a list', '- 1', 'p.yaml:1: the policy: '],
    ['an unknown field', `${minimal}foo: 1`, 'p.yaml:4: foo: unknown field'],
    [
      'a duration',
      'rules:\n  - rule: a\n    match:\n      olderThan: 7 days\n    action: stop',
      'p.yaml:4: rules[0].match.olderThan: is not a duration',
    ],
    [
      'a number for a duration',
      'rules:\n  - rule: a\n    match:\n      idleFor: 7\n    action: stop',
      'p.yaml:4: rules[0].match.idleFor: ',
    ],
    [
      'a condition',
      'rules:\n  - rule: a\n    match:\n      nam: x\n    action: stop',
      'p.yaml:4: rules[0].match.nam: unknown field; the fields are name, state, olderThan, ',
    ],
    [
      'a state in a list',
      'rules:\n  - rule: a\n    match:\n      state:\n        - ready\n        - gone\n    action: stop',
      'p.yaml:6: rules[0].match.state[1]: ',
    ],
    ['an action', 'rules:\n  - rule: a\n    action: delete', 'p.yaml:3: rules[0].action: '],
    [
      'what never acts',
      'rules:\n  - rule: a\n    match: {owned: open}\n    action: stop',
      'p.yaml:4: rules[0].action: the owner status open only allows the action keep',
    ],
    ['a title twice', `${minimal}  - rule: old\n    action: keep`, 'p.yaml:4: rules[1].rule: "old" is used twice'],
    ['a time zone', `timeZone: Mars/North\n${minimal}`, 'p.yaml:1: timeZone: is not a time zone'],
    ['a window', `windows:\n  - between: 1:00-5:00\n${minimal}`, 'p.yaml:2: windows[0].between: is not a time range'],
    ['aliases that never end', `a: &a [*a]\n${minimal}`, 'p.yaml:'],
  ])('%s', (_, text, problem) => {
    const problems = problemsOf(text);
    expect(
      problems.some((line) => line.startsWith(problem)),
      problems.join('\n'),
    ).toBe(true);
  });

  test('all problems at once', () => {
    expect(problemsOf('name: A b\nlimits: {maxPercent: 101}\nrules: 3')).toHaveLength(3);
  });
});
