import { describe, expect, it } from 'vitest';
import { formatAge, formatDuration, parseDurationMs, parseSince } from '../../../src/cli/units.js';
import { UsageError } from '../../../src/cli/usage-error.js';

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['1w2d', 777_600_000],
  ])('reads %s', (text, ms) => {
    expect(parseDurationMs(text, '--ttl')).toBe(ms);
  });

  it.each(['', '30', 'm', '30 m', '-5m', '5x', '0s', '1e3s', '30m!', '99999999999999999d'])(
    'refuses "%s" and names the option',
    (text) => {
      expect(() => parseDurationMs(text, '--ttl')).toThrow(UsageError);
      expect(() => parseDurationMs(text, '--ttl')).toThrow(/^--ttl: .*Use a value like 90s/);
    },
  );

  it('refuses what is longer than two years, and names the limit', () => {
    expect(parseDurationMs('732d', '--ttl')).toBe(732 * 86_400_000);
    expect(() => parseDurationMs('733d', '--ttl')).toThrow('--ttl: 733d is too long. The limit is 732d.');
  });

  it.each([
    [350, '350 ms'],
    [2_130, '2.1 s'],
    [59_400, '59 s'],
    [60_000, '1 m'],
    [185_000, '3 m 5 s'],
    [7_800_000, '2 h 10 m'],
  ])('writes %i ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('ages', () => {
  it.each([
    [400, '0 s'],
    [2_900, '2 s'],
    [61_000, '1 m 1 s'],
    [3 * 86_400_000, '3 d'],
  ])('writes that %i ms have passed as %s', (ms, text) => {
    expect(formatAge(ms)).toBe(text);
  });
});

describe('--since', () => {
  const nowMs = Date.UTC(2026, 2, 17, 12);
  it.each([
    ['1d', '2026-03-16T12:00:00.000Z'],
    ['90m', '2026-03-17T10:30:00.000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T22:00Z', '2026-03-01T22:00:00.000Z'],
  ])('reads %s', (text, at) => {
    expect(parseSince(text, nowMs)?.toISOString()).toBe(at);
  });

  it.each(['', 'yesterday', '2026', '2026-13-40', '5', '999999999999d'])('refuses "%s"', (text) => {
    expect(() => parseSince(text, nowMs)).toThrow(UsageError);
  });
});
