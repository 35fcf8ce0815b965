/** The one language of patterns: what is refused, what matches, and what is told because it matches nothing. */
import { describe, expect, test } from 'vitest';
import { parseEscalation } from '../../../src/protocol/escalation.js';
import { fitsAny, patternProblem } from '../../../src/retention/glob.js';
import { type CleanupPolicy, readPolicy, unprotectedProblem } from '../../../src/retention/index.js';
import { checkCleanup } from '../../../src/workflow-client/cleanups/cleanup-input.js';
import { candidateWith, planWith, policyWith, ruleWith } from './builders.js';

const problemsOf = (text: string) => {
  try {
    readPolicy(`${text}\n`, 'p.yaml');
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').slice(1);
  }
};

describe('a sign of another language', () => {
  test('is refused where it would protect nothing, with what to write instead', () => {
    const problems = problemsOf(`protect: ["prod-{a,b}", "data-[0-9]*"]
rules: [{rule: old, action: delete-sandbox}]`);
    expect(problems).toEqual([
      '  p.yaml:1: protect[0]: has "{", but the only signs of patterns are * (any characters) and ? (one), and a pattern stands for the whole name. For alternatives, write several patterns; for the character itself, write \\{',
      '  p.yaml:1: protect[1]: has "[", but the only signs of patterns are * (any characters) and ? (one), and a pattern stands for the whole name. For alternatives, write several patterns; for the character itself, write \\[',
    ]);
  });

  test('is refused in each field that takes patterns', () => {
    const problems = problemsOf(`rules:
  - rule: old
    action: delete-snapshot
    match:
      name: ['!prod-*', ok]
      environment: [null, '^web']
      creator: ann|bob
    snapshotName: 'tmp-\\d'`);
    expect(
      problems.map((line) => /p\.yaml:\d+: (\S+) has (?:"(.)"|a (\\) before "d")/.exec(line)?.slice(1, 4)),
    ).toEqual([
      ['rules[0].match.name[0]:', '!', undefined],
      ['rules[0].match.environment[1]:', '^', undefined],
      ['rules[0].match.creator:', '|', undefined],
      ['rules[0].snapshotName:', undefined, '\\'],
    ]);
  });

  test('is refused in a policy that a program wrote', () => {
    const policy = policyWith({ rules: [ruleWith({ match: { names: ['ci-[0-9]'] } })] });
    expect(() => checkCleanup({ deployment: 'd', policy })).toThrow(
      'The pattern "ci-[0-9]" of the name of "old" has "["',
    );
    expect(() => checkCleanup({ deployment: 'd', policy: policyWith({ protect: ['ci-?'] }) })).not.toThrow();
  });

  test.each([
    'a[1',
    'a]',
    '{a}',
    'a}',
    'a|b',
    '!a',
    '^a',
    'a$',
    'a\\d',
    'a\\',
    '',
    'prod-.*',
    '.+',
    '/prod/',
    '%prod%',
    ' prod-*',
    'prod-* ',
  ])('is refused in %j', (pattern) => {
    expect(patternProblem(pattern)).not.toBeNull();
  });

  test.each([
    '*',
    'a?c*',
    'Ann (Ops)',
    'a!',
    'a^b',
    '$5',
    'a.b+c',
    'sf-a-1',
    '\\[a\\]\\*\\?\\\\',
    'v1.2*',
    'v1\\.*',
    'a/b',
    '/a',
    'a/',
    'a b',
    '50\\%',
    '/',
  ])('is not in %j', (pattern) => {
    expect(patternProblem(pattern)).toBeNull();
  });
});

describe('a pattern', () => {
  test.each([
    ['data-\\[1\\]', 'data-[1]', true],
    ['data-\\[1\\]', 'data-1', false],
    ['a\\*', 'a*', true],
    ['a\\*', 'ab', false],
    ['a\\?b*', 'a?bc', true],
    ['a\\?b*', 'axbc', false],
    ['a\\\\b', 'a\\b', true],
    ['*\\]', 'x]', true],
    ['a?', 'a😀', true],
    ['a*c', 'abcbc', true],
    ['A*', 'abc', false],
    ['b', 'abc', false],
  ])('%j, for %j, is %j', (pattern, text, expected) => {
    expect(fitsAny([pattern], text)).toBe(expected);
  });

  test('that matches nothing is told in the plan, and no other', () => {
    const rules = [
      ruleWith({ match: { names: ['ci-*', 'build-*'], environments: [null, 'web'], creators: ['ann', 'bob'] } }),
      ruleWith({ rule: 'shots', action: 'delete-snapshot', snapshotNames: ['tmp-*', 'old-*'] }),
    ];
    const plan = planWith({
      policy: policyWith({ protect: ['ci-1', 'golden', 'tmp-1'], rules }),
      candidates: [candidateWith({ createdBy: 'bob', environment: 'api' }), candidateWith({ id: 'bx_b', name: null })],
      snapshots: new Map([['bx_a', [{ id: 's', name: 'tmp-1', createdAt: null }]]]),
    });
    expect(plan.unmatched).toEqual([
      { where: 'protect', pattern: 'golden' },
      { where: 'the name of "old"', pattern: 'build-*' },
      { where: 'the environment of "old"', pattern: 'web' },
      { where: 'the creator of "old"', pattern: 'ann' },
      { where: 'the snapshotName of "shots"', pattern: 'old-*' },
    ]);
  });
});

describe('a pattern of protect that matches nothing', () => {
  const problemWith = (over: Partial<CleanupPolicy>) => {
    const policy = policyWith({ protect: ['ci-1', 'prod-?'], ...over });
    const plan = planWith({
      policy,
      candidates: [candidateWith({ name: 'old' }), candidateWith({ id: 'bx_b', name: 'ci-1' })],
    });
    return unprotectedProblem(policy, plan);
  };
  const escalate = (mayDelete: boolean) =>
    parseEscalation(mayDelete ? '1h: delete' : '1h: resume-and-stop', { mayDelete, deleteFlag: '' });

  test('stops a plan that deletes, and is named', () => {
    expect(problemWith({})).toMatch(/^it would delete, although "prod-\?" of protect matches nothing;/);
    expect(problemWith({ protect: ['prod-?', 'live'] })).toMatch(
      /although "prod-\?", "live" of protect match nothing;/,
    );
  });

  test('stops no plan that is allowed to, deletes nothing, or does nothing', () => {
    expect(problemWith({ protectMayMatchNothing: true })).toBeNull();
    expect(problemWith({ protect: ['ci-1'] })).toBeNull();
    expect(problemWith({ rules: [ruleWith({ action: 'stop' })] })).toBeNull();
    expect(problemWith({ rules: [ruleWith({ match: { names: ['other-*'] } })] })).toBeNull();
  });

  test.each([
    [true, true],
    [false, false],
  ])('counts an escalation as a deletion if it may delete: %j', (mayDelete, expected) => {
    const policy = policyWith({
      protect: ['prod-?'],
      escalate: escalate(mayDelete),
      rules: [ruleWith({ action: 'escalate' })],
    });
    const { facts, owner } = candidateWith({});
    const action = { number: 1, action: 'escalate', rule: 'old', facts, owner, snapshotId: null, keeps: [] } as const;
    const plan = { unmatched: [{ where: 'protect', pattern: 'prod-?' }], actions: [action] };
    expect(unprotectedProblem(policy, plan) !== null).toBe(expected);
  });
});
