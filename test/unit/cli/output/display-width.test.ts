import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { cutToWidth, displayWidth, wrapToWidth } from '../../../../src/cli/output/display-width.js';

const people = '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}';

describe('a long line', () => {
  it.each([
    ['letters', 'a'],
    ['letters with accents', 'e\u0301'],
    ['emoji', people],
    ['a letter with endless accents', '\u0301'],
  ])(
    'of %s is measured, cut and wrapped in few looks at each part of it, so that no agent can hold up a terminal',
    (_name, piece) => {
      const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
      onTestFinished(() => segment.mockRestore());
      const text = `x${piece.repeat(2_000)}`;
      displayWidth(text);
      wrapToWidth(text, 80);
      cutToWidth(text, 80);
      const lengths = segment.mock.calls.map(([part]) => part.length);
      // The time of one look grows with the square of its length.
      expect(Math.max(0, ...lengths)).toBeLessThanOrEqual(501);
      // Each function looks at the text twice at most, and again at the end of each part.
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(7 * text.length);
    },
  );

  it('is split between characters, wherever they are', () => {
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
    const piece = fc.constantFrom(
      'a',
      'e\u0301',
      '\u{1f1e9}\u{1f1ea}',
      people,
      '\u4e2d',
      '\u0bb7\u0bbf',
      'x'.repeat(97),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 300, maxLength: 400 }),
        fc.integer({ min: 2, max: 9 }),
        (pieces, columns) => {
          const text = pieces.join('');
          const parts = wrapToWidth(text, columns);
          expect(parts.join('')).toBe(text);
          const ends = new Set(Array.from(segmenter.segment(text), ({ index, segment }) => index + segment.length));
          const isSplit = (index: number) => !ends.has(parts.slice(0, index + 1).join('').length);
          expect(parts.filter((_, index) => isSplit(index))).toEqual([]);
          expect(parts.filter((part) => displayWidth(part) > columns)).toEqual([]);
        },
      ),
      { numRuns: 20, endOnFailure: true },
    );
  });
});
