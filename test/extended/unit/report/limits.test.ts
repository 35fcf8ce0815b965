import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText, fairLimit, textBytes } from '../../../../src/report/cut-text.js';
import { renderFanoutReport } from '../../../../src/report/index.js';
import { jsonForScript } from '../../../../src/report/markup.js';
import { plainText } from '../../../../src/report/plain-text.js';
import { hostileText } from '../../../unit/report/hostile.js';
import { sampleBatch } from '../../../unit/report/sample-batch.js';

const shownText = hostileText.map(plainText);

describe('the size of a text in the file', () => {
  test('is the size of its JSON', () => {
    fc.assert(
      fc.property(shownText, (text) => {
        expect(textBytes(text)).toBe(Buffer.byteLength(jsonForScript(text)) - 2);
      }),
    );
  });

  test('is limited at the end, between whole characters', () => {
    fc.assert(
      fc.property(shownText, fc.nat(40), (whole, limit) => {
        const { text, cut } = cutText(whole, limit);
        expect(textBytes(text)).toBeLessThanOrEqual(limit);
        expect(whole.startsWith(text)).toBe(true);
        expect(text.length + cut).toBe(whole.length);
        expect(Buffer.from(text).toString()).toBe(text);
      }),
    );
  });
});

test('texts share the space fairly: together they stay within it, and a short one stays whole', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000)), fc.integer({ min: 1, max: 20_000 }), (sizes, total) => {
      const limit = fairLimit(sizes, 800, total);
      const taken = sizes.reduce((sum, size) => sum + Math.min(size, limit), 0);
      expect(limit).toBeLessThanOrEqual(800);
      expect(taken).toBeLessThanOrEqual(total);
      // No space is wasted: a limit higher by one would not fit.
      if (limit < 800) {
        expect(sizes.reduce((sum, size) => sum + Math.min(size, limit + 1), 0)).toBeGreaterThan(total);
      }
    }),
  );
});

describe('a report', () => {
  test('cuts a long answer at 20 kB and says so', () => {
    const page = renderFanoutReport(sampleBatch(1, { outcome: 'completed', answer: () => 'x'.repeat(100_000) }));
    expect(page.length).toBeLessThan(220_000);
    expect(page).toMatch(/"cut":80\d{3}/);
    expect(page).toContain('Each text is cut at 20 kB');
  });

  test('stays within 24 MB of texts for 2,000 items of any size, and says so', () => {
    const page = renderFanoutReport(sampleBatch(2_000, { outcome: 'completed', answer: () => '<&>'.repeat(1_200) }));
    expect(Buffer.byteLength(page)).toBeLessThan(28_000_000);
    expect(page).toContain('to limit their total size');
  });
});
