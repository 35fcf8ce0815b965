import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { browserModule } from './browser-module.js';

interface LineDiff {
  alignTexts(texts: readonly string[]): { same: boolean; lines: (string | null)[] }[];
  matchLines(left: readonly string[], right: readonly string[]): Map<number, number>;
  commonEnds(lines: readonly string[]): { start: number; end: number };
}
const { alignTexts, matchLines, commonEnds } = await browserModule<LineDiff>('items/line-diff');

const line = fc.constantFrom('a', 'b', 'c', '', 'the end');
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));

describe('texts side by side', () => {
  test('have all their lines once and in order, and only equal ones count as the same', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (texts) => {
        const rows = alignTexts(texts);
        for (const [column, whole] of texts.entries()) {
          const lines = rows.map((row) => row.lines[column]).filter((found) => found !== null);
          expect(lines.join('\n')).toBe(whole);
        }
        for (const { same, lines } of rows) expect(same).toBe(new Set(lines).size === 1);
      }),
    );
  });

  test('are aligned at common lines', () => {
    expect(alignTexts(['one\ntwo\nthree', 'one\nthree\nfour'])).toEqual([
      { same: true, lines: ['one', 'one'] },
      { same: false, lines: ['two', null] },
      { same: true, lines: ['three', 'three'] },
      { same: false, lines: [null, 'four'] },
    ]);
  });
});

describe('matching lines', () => {
  test('are a longest common subsequence', () => {
    const lines = fc.array(line, { maxLength: 9 });
    fc.assert(
      fc.property(lines, lines, (left, right) => {
        const found = [...matchLines(left, right)];
        for (const [at, [one, other]] of found.entries()) {
          expect(left[one]).toBe(right[other]);
          const [nextOne, nextOther] = found[at + 1] ?? [one + 1, other + 1];
          expect(nextOne > one && nextOther > other).toBe(true);
        }
        expect(found.length).toBe(longest(left, right));
      }),
    );
  });

  test('of two very long texts are searched for at their beginning and end only, and not among all pairs', () => {
    const long = (mark: string): string[] =>
      Array.from({ length: 20_000 }, (_, at) => (at % 100 === 50 ? 'same' : `${mark}${at}`));
    const found = matchLines(['first', ...long('a'), 'last'], ['first', ...long('b'), 'last']);
    // Whoever compares all pairs, which are 400 million, finds the 200 lines in the middle too.
    expect([...found]).toEqual([
      [0, 0],
      [20_001, 20_001],
    ]);
  });
});

test('common beginnings and ends of lines are cut between words and never overlap', () => {
  expect(commonEnds(['waits 100 ms long', 'waits 150 ms long'])).toEqual({ start: 6, end: 8 });
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 9 }), { minLength: 2, maxLength: 4 }), (lines) => {
      const { start, end } = commonEnds(lines);
      for (const each of lines) {
        expect(start + end).toBeLessThanOrEqual(each.length);
        expect(each.slice(0, start)).toBe(lines[0]?.slice(0, start));
        expect(each.slice(each.length - end)).toBe(lines[0]?.slice(lines[0].length - end));
      }
    }),
  );
});

/** The length of the longest common subsequence, by the simple algorithm. */
function longest(left: readonly string[], right: readonly string[]): number {
  const [head, ...tail] = left;
  if (head === undefined || right.length === 0) return 0;
  const at = right.indexOf(head);
  const without = longest(tail, right);
  return at < 0 ? without : Math.max(without, 1 + longest(tail, right.slice(at + 1)));
}
