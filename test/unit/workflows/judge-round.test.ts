import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CheckRound, CheckRun } from '../../../src/protocol/job/job-result.js';
import {
  hasVerdict,
  isPastPrompts,
  isSameFailure,
  promptOf,
  verdictOf,
} from '../../../workflows/job/checks/judge-round.js';

const run = (over: Partial<CheckRun> = {}): CheckRun => ({
  command: 'npm test',
  exitCode: 1,
  output: 'failed',
  durationMs: 5,
  ...over,
});
const round = (number: number, output: string | null, promptIndex: number | null = null): CheckRound => {
  const runs = [run(output === null ? { exitCode: 0 } : { output })];
  return { round: number, passed: output === null, runs, promptIndex };
};
const alone = (output: string, exitCode: number | null = 1) => ({ runs: [run({ output, exitCode })] });

describe('after a round', () => {
  it.each([
    ['passed', [round(1, null)], 3],
    ['failed', [round(1, 'a')], 1],
    ['next_round', [round(1, 'a')], 2],
    ['next_round', [round(0, 'a'), round(1, 'a')], 2],
    ['next_round', [round(1, 'a', 1), round(2, 'b')], 3],
    ['repeated', [round(1, 'a', 1), round(2, 'a')], 3],
    ['failed', [round(1, 'a', 1), round(2, 'a')], 2],
    ['passed', [round(1, 'a', 1), round(2, null)], 2],
  ] as const)('the verdict is %s', (verdict, rounds, most) => {
    expect(verdictOf(rounds, most)).toBe(verdict);
  });

  it('no prompt follows while checks run and after the last ones, but before the first prompt it does', () => {
    expect(isPastPrompts({}, {})).toBe(false);
    expect(isPastPrompts({ checking: [] }, {})).toBe(false);
    expect(isPastPrompts({ checking: [] }, { checkBefore: false })).toBe(true);
    expect(isPastPrompts({ after: [] }, {})).toBe(true);
    expect(isPastPrompts({ rounds: [round(0, 'a')] }, {})).toBe(false);
    expect(isPastPrompts({ rounds: [round(0, 'a')], checking: [] }, {})).toBe(true);
    expect(isPastPrompts({ rounds: [round(1, 'a', 1)] }, {})).toBe(false);
    expect(isPastPrompts({ rounds: [round(1, 'a', 1)], checking: [] }, {})).toBe(true);
    expect(isPastPrompts({ rounds: [round(1, 'a')] }, {})).toBe(true);
    expect(hasVerdict({ rounds: [round(0, null)] })).toBe(false);
  });
});

describe('the failure is the same', () => {
  it.each([
    ['Tests: 3 failed, took 1.2 s', 'Tests: 4 failed, took 900ms'],
    ['at /home/a1/app/src/sum.ts:3:4', 'at /work/b/app/src/sum.ts:9:10'],
    ['at C:\\a\\sum.ts', 'at D:\\b\\c\\sum.ts'],
    ['in /tmp/pytest-of-me/x', 'in /tmp/pytest-of-you/x'],
    ['wrote /tmp/tmpabqk', 'wrote /tmp/tmpzzrw'],
    ['object at 0x7f00aa', 'object at 0x1b'],
    ['commit 3f2a9c1d', 'commit 00ab4e7f9'],
    ['run 6b1f3a52-0c1d-4e5f-8a9b-0c1d2e3f4a5b', 'run 00000000-0c1d-4e5f-8a9b-0c1d2e3f4a5b'],
    ['Mon Nov 30 01:27:24 2026', 'Tue Dec 1 23:00:01 2026'],
    ['2026-11-30T01:27:24.123Z a', '2026-12-01T21:07:14.5Z a'],
    ['one\n\n  two', 'one \n two\n'],
    ['in 1m30s', 'in 45s'],
  ])('%j and %j', (one, other) => {
    expect(isSameFailure(alone(one), alone(other))).toBe(true);
  });

  it.each([
    ['expected true', 'expected false'],
    ['at /app/src/sum.ts:3', 'at /app/src/product.ts:3'],
    ['FAIL tests/alpha.py', 'FAIL tests/beta.py'],
    ['one\ntwo', 'one'],
    ['a b', 'ab'],
  ])('not for %j and %j', (one, other) => {
    expect(isSameFailure(alone(one), alone(other))).toBe(false);
  });

  it('only with the same exit codes of the same checks', () => {
    expect(isSameFailure(alone('a', 1), alone('a', 2))).toBe(false);
    const both = [run(), run({ exitCode: 0, output: 'fine' })];
    expect(isSameFailure({ runs: both }, { runs: [run(), run({ exitCode: 0, output: 'other' })] })).toBe(true);
    expect(isSameFailure({ runs: both }, { runs: [run({ exitCode: 0 }), run()] })).toBe(false);
  });

  it('of outputs that were cut, by the lines that both have', () => {
    expect(isSameFailure(alone('…alf a line\nlast'), alone('…\none more\nlast'))).toBe(true);
    expect(isSameFailure(alone('…alf a line\nlast'), alone('…\none more\nother'))).toBe(false);
    expect(isSameFailure(alone('…alf a line\nlast'), alone('one more\nlast'))).toBe(false);
  });

  const words = fc.array(fc.constantFrom('expected', 'got', 'error:', 'in', 'sum.ts', '(x)'), { minLength: 1 });
  /** Two texts that say the same of two runs. */
  const pairOf = <T>(one: fc.Arbitrary<T>, text: (value: T) => string) => fc.tuple(one.map(text), one.map(text));
  const noise = fc.oneof(
    pairOf(fc.nat(), String),
    pairOf(fc.nat(), (ms) => `${(ms / 1_000).toFixed(2)}s`),
    pairOf(fc.uuid(), (id) => id),
    pairOf(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }), (date) => date.toISOString()),
    pairOf(fc.constantFrom('/a/b/', '/home/me/', '/'), (folder) => `${folder}lib.ts:12`),
    pairOf(fc.nat({ max: 5 }), (count) => ' '.repeat(count)),
  );

  it('whatever numbers, times, ids and folders stand between the words, and not if a word differs', () => {
    fc.assert(
      fc.property(words, fc.array(noise, { minLength: 8, maxLength: 8 }), (texts, pairs) => {
        const output = (side: 0 | 1) =>
          texts.map((word, index) => `${word} ${pairs[index % pairs.length]?.[side] ?? ''}`).join('\n');
        expect(isSameFailure(alone(output(0)), alone(output(1)))).toBe(true);
        expect(isSameFailure(alone(output(0)), alone(`${output(1)}\nanother`))).toBe(false);
      }),
    );
  });

  it('takes linear time', () => {
    const long = ['/a'.repeat(2_000), '#'.repeat(4_000), '1:'.repeat(2_000), ' '.repeat(4_000), 'a1'.repeat(2_000)];
    for (const text of long) expect(isSameFailure(alone(text), alone(`${text}x y`))).toBe(false);
  });
});

describe('the next prompt', () => {
  it('has command, exit code and output of each failed check, as they are', () => {
    const runs = [run({ output: '$& {{command}} $1' }), run({ exitCode: 0 }), run({ exitCode: null, output: '' })];
    expect(promptOf({ runs }, '{{command}}|{{ exitCode }}|{{output}}')).toBe(
      'npm test|1|$& {{command}} $1\n\nnpm test|none|(none)',
    );
  });

  it('by default asks to make the check pass', () => {
    expect(promptOf({ runs: [run()] })).toBe(
      'The check `npm test` failed (exit code: 1). The end of its output:\n\nfailed\n\nMake it pass.',
    );
  });
});
