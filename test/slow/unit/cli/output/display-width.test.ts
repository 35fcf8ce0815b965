import { describe, expect, it } from 'vitest';
import { cutToWidth, displayWidth, wrapToWidth } from '../../../../../src/cli/output/display-width.js';

const people = '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}';

describe('a long line', () => {
  it.each([
    ['letters', 'a'],
    ['letters with accents', 'e\u0301'],
    ['emoji', people],
    ['a letter with endless accents', '\u0301'],
  ])('of %s is measured, cut and wrapped in linear time, so that no agent can hold up a terminal', (_name, piece) => {
    const time = (length: number) => {
      const text = `x${piece.repeat(length)}`;
      const before = process.cpuUsage();
      displayWidth(text);
      wrapToWidth(text, 80);
      cutToWidth(text, 80);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const best = (length: number) => Math.min(...Array.from({ length: 3 }, () => time(length)));
    // Ten for linear work, a hundred for quadratic work.
    expect(best(20_000)).toBeLessThan(40 * Math.max(best(2_000), 1_000));
  });
});
