import { describe, expect, test } from 'vitest';
import {
  budgetText,
  bytesText,
  countText,
  dollarsText,
  durationText,
  machineText,
  medianText,
  shareText,
} from '../../../src/report/numbers.js';

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

  test('an amount is never shown as nothing', () => {
    expect([0, 0.00004, 0.00005, 0.0042, 12.4].map(dollarsText)).toEqual([
      ...['$0.00', '< $0.0001', '$0.0001', '$0.0042', '$12.40'],
    ]);
  });

  test('a share is all only if none is missing, and none only if there is none', () => {
    expect([shareText(0, 9), shareText(1, 999), shareText(1, 3), shareText(998, 999), shareText(9, 9)]).toEqual([
      ...['0 %', '< 1 %', '33 %', '> 99 %', '100 %'],
    ]);
    expect(shareText(0, 0)).toBe('–');
  });

  test('a budget is shown as it was given', () => {
    expect([1_080_000, 5_400, 45].map(budgetText)).toEqual(['300 h', '90 m', '45 s']);
  });

  test('machine time has its list price if that is known', () => {
    expect([machineText(1.25, null), machineText(264, null)]).toEqual(['1.3 s', '264 s (4 m 24 s)']);
    expect(machineText(264, 0.001)).toBe('264 s (4 m 24 s), $0.2640');
  });

  test('a median is a duration that half of the others do not exceed, without unknown ones', () => {
    expect(medianText([4_000, null, 1_000, 2_000, 3_000])).toBe('2.0 s');
    expect(medianText([null])).toBe('–');
  });
});
