import { describe, expect, test } from 'vitest';
import {
  firstWindowCron,
  isWindowOpen,
  nightBeganAtMs,
  readPolicy,
  windowsText,
  withOpenWindows,
} from '../../../src/retention/index.js';

const policyOf = (windows: string, timeZone = 'Europe/Vienna') =>
  readPolicy(`timeZone: ${timeZone}\nwindows: ${windows}\nrules: [{rule: a, action: stop}]`, 'p.yaml');
const night = policyOf('[{between: 01:00 and 05:00}]');
const isOpen = (policy: ReturnType<typeof policyOf>, at: string) => isWindowOpen(policy, Date.parse(at));

describe('a window', () => {
  test.each([
    ['2026-01-15T00:00:00Z', true, 'winter, 01:00'],
    ['2026-01-14T23:59:59Z', false, 'winter, 00:59:59'],
    ['2026-01-15T03:59:59Z', true, 'winter, 04:59:59'],
    ['2026-01-15T04:00:00Z', false, 'winter, 05:00'],
    ['2026-07-15T00:00:00Z', true, 'summer, 02:00'],
    ['2026-07-14T22:59:59Z', false, 'summer, 00:59:59'],
    ['2026-07-15T03:00:00Z', false, 'summer, 05:00'],
  ])('at %s is open: %s (%s)', (at, open) => {
    expect(isOpen(night, at)).toBe(open);
  });

  test('is open at any time for a cleanup that ignores it, and begins at its time of day', () => {
    const weekend = withOpenWindows(policyOf('[{between: 22:00 and 04:00, days: [sat]}]', 'UTC'));
    for (const hour of Array.from({ length: 24 }, (_, index) => String(index).padStart(2, '0'))) {
      expect(isOpen(weekend, `2026-06-16T${hour}:30:00Z`), hour).toBe(true);
    }
    const began = new Date(nightBeganAtMs(weekend, Date.parse('2026-06-16T12:00:00Z'))).toISOString();
    expect(began).toBe('2026-06-15T21:59:00.000Z');
    expect(withOpenWindows(policyOf('[]')).windows).toEqual([]);
  });

  test('over midnight belongs to the day on which it opens', () => {
    const friday = policyOf('[{between: 22:00 and 04:00, days: [fri]}]', 'UTC');
    expect(isOpen(friday, '2026-06-19T21:59:00Z')).toBe(false);
    expect(isOpen(friday, '2026-06-19T22:00:00Z'), 'Friday').toBe(true);
    expect(isOpen(friday, '2026-06-20T03:59:00Z'), 'Saturday morning').toBe(true);
    expect(isOpen(friday, '2026-06-20T22:30:00Z'), 'Saturday night').toBe(false);
    expect(isOpen(friday, '2026-06-19T03:00:00Z'), 'Friday morning').toBe(false);
  });

  test('does not occur in the skipped hour when the clock is set forward', () => {
    const missing = policyOf('[{between: 02:00 and 03:00}]');
    const quarters = Array.from({ length: 96 }, (_, index) => Date.parse('2026-03-29T00:00:00Z') + index * 900_000);
    expect(quarters.filter((at) => isWindowOpen(missing, at))).toEqual([]);
  });

  test('is open twice in the repeated hour when the clock is set back', () => {
    const twice = policyOf('[{between: 02:00 and 03:00}]');
    expect(isOpen(twice, '2026-10-25T00:30:00Z')).toBe(true);
    expect(isOpen(twice, '2026-10-25T01:30:00Z')).toBe(true);
    expect(isOpen(twice, '2026-10-25T02:00:00Z')).toBe(false);
  });

  test('is open all day if it ends when it begins, and always if there is none', () => {
    const day = policyOf('[{between: 03:00 and 03:00}]');
    expect(isOpen(day, '2026-06-19T00:59:00Z') && isOpen(day, '2026-06-19T01:00:00Z')).toBe(true);
    expect(isOpen(policyOf('[]'), '2026-06-19T12:00:00Z')).toBe(true);
  });

  test('is described in words', () => {
    expect(windowsText(policyOf('[{between: 22:00 and 04:30, days: [sat, sun]}]', 'UTC'))).toBe(
      '22:00 to 04:30 on sat, sun, UTC',
    );
    expect(windowsText(policyOf('[]'))).toBe('at any time');
  });
});

describe('a night', () => {
  const began = (policy: ReturnType<typeof policyOf>, at: string) =>
    new Date(nightBeganAtMs(policy, Date.parse(at))).toISOString().slice(0, 16);

  test('begins with its window, within a minute', () => {
    expect(began(night, '2026-01-15T03:30:00Z')).toBe('2026-01-14T23:59');
    expect(began(policyOf('[{between: 22:00 and 04:00}]', 'UTC'), '2026-06-20T03:00:00Z')).toBe('2026-06-19T21:59');
  });

  test('begins at midnight if there are no windows', () => {
    expect(began(policyOf('[]'), '2026-07-15T10:00:00Z')).toBe('2026-07-14T21:59');
  });

  test('with a clock change is never counted from too late', () => {
    // 01:00 in Vienna is 00:00Z before the clock is set forward, and 23:00Z of the day before it is set back.
    expect(began(night, '2026-03-29T02:30:00Z') <= '2026-03-29T00:00').toBe(true);
    expect(began(night, '2026-10-25T03:30:00Z') <= '2026-10-24T23:00').toBe(true);
  });
});

describe('the cron expression of a policy', () => {
  test('is the opening of the first window, or 02:30', () => {
    expect(firstWindowCron(night).cron).toBe('0 1 * * *');
    expect(firstWindowCron(policyOf('[]')).cron).toBe('30 2 * * *');
  });

  test('has the days of the window', () => {
    const friday = policyOf('[{between: 22:15 and 04:00, days: [fri, sun]}]');
    expect(firstWindowCron(friday)).toEqual({ cron: '15 22 * * FRI,SUN', zone: friday.timeZone });
  });
});
