import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { activityOf, forkKinds } from '../../../src/report/batch/activity.js';
import { pageItem, segmentsOf } from '../../../src/report/batch/page-items.js';
import { bytesText, countText, dollarsText, durationText } from '../../../src/report/format.js';
import { niceStep, quantile } from '../../../src/report/stats.js';
import { browserModule } from './browser-module.js';
import { sampleBatch } from './sample-batch.js';

const durations = fc.array(fc.integer({ min: 0, max: 400_000_000 }), { minLength: 1 });

describe('quantiles', () => {
  test('are values that a share of the others does not exceed', () => {
    fc.assert(
      fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
        const found = quantile(values, q) ?? Number.NaN;
        expect(values).toContain(found);
        expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual(q * values.length - 1e-9);
      }),
    );
    expect([quantile([], 0.5), quantile([3, 1, 2], 0.5), quantile([3, 1, 2, 4], 0.9)]).toEqual([null, 2, 4]);
  });
});

test('an amount is never shown as nothing', () => {
  expect([0, 0.00004, 0.00005, 0.0042, 12.4].map(dollarsText)).toEqual([
    ...['$0.00', '< $0.0001', '$0.0001', '$0.0042', '$12.40'],
  ]);
});

test('a scale has no more parts than requested', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4e9 }), fc.integer({ min: 1, max: 40 }), (spanMs, most) => {
      expect(spanMs / niceStep(spanMs, most)).toBeLessThanOrEqual(most);
    }),
  );
});

describe('the phases of an item', () => {
  const time = fc.option(fc.nat(100_000).map((ms) => new Date(ms).toISOString()));
  const times = fc.record({
    queuedAt: time,
    forkedAt: time,
    usableAt: time,
    promptedAt: time,
    answeredAt: time,
    endingAt: time,
    endedAt: time,
  });

  test('follow each other without a gap and in order, whatever the clocks reported', () => {
    fc.assert(
      fc.property(times, (given) => {
        const segments = segmentsOf(given, 0, 120_000);
        for (const [at, { from, to }] of segments.entries()) {
          expect(to).toBeGreaterThan(from);
          const next = segments[at + 1];
          if (next) expect(next.from).toBe(to);
        }
      }),
    );
  });

  test('a missing time belongs to the previous phase', () => {
    const at = (ms: number): string => new Date(ms).toISOString();
    const none = { usableAt: null, promptedAt: null, answeredAt: null };
    expect(
      segmentsOf({ queuedAt: at(10), forkedAt: at(20), ...none, endingAt: at(50), endedAt: at(60) }, 5, 99),
    ).toEqual([
      { kind: 'queued', from: 5, to: 15 },
      { kind: 'booting', from: 15, to: 45 },
      { kind: 'ending', from: 45, to: 55 },
    ]);
  });
});

test('concurrent forks over time add up to the total fork time', () => {
  const { items, result } = sampleBatch(40);
  const startMs = Date.parse(result.startedAt);
  const spanMs = 'durationMs' in result ? result.durationMs : 0;
  const pageItems = items.map((item) => pageItem(item, startMs, startMs + spanMs));
  const { bucketMs, forks, peak } = activityOf(pageItems, spanMs, 64);
  for (const kind of forkKinds) {
    const lived = pageItems
      .flatMap(({ segments }) => segments)
      .filter((segment) => segment.kind === kind)
      .reduce((total, { from, to }) => total + to - from, 0);
    expect(forks[kind].reduce((total, value) => total + value * bucketMs, 0)).toBeCloseTo(lived, 3);
  }
  expect(peak).toBeGreaterThan(5);
  expect(peak).toBeLessThanOrEqual(14);
});

describe('numbers as text', () => {
  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [9_949, '9.9 s'],
    [9_999, '10 s'],
    [59_700, '1 m'],
    [185_000, '3 m 5 s'],
    [3_599_900, '1 h'],
    [7_800_000, '2 h 10 m'],
    [86_399_000, '1 d'],
    [356_400_000, '4 d 3 h'],
  ])('%d ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  test('sizes and counts', () => {
    expect([812, 3_400, 999_400, 999_500, 12_300_000].map(bytesText)).toEqual([
      '812 B',
      '3.4 kB',
      '999 kB',
      '1.0 MB',
      '12 MB',
    ]);
    expect([0, 999, 1_000, 1_234_567].map(countText)).toEqual(['0', '999', '1,000', '1,234,567']);
  });

  test('the script formats durations and sizes as the HTML does', async () => {
    const words = await browserModule<{ durationText(ms: number): string; bytesText(bytes: number): string }>('words');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), (value) => {
        expect(words.durationText(value)).toBe(durationText(value));
        expect(words.bytesText(value)).toBe(bytesText(value));
      }),
    );
  });
});
