import { describe, expect, it } from 'vitest';
import { isTimeZone } from '../../../src/texts/time-zone.js';

describe('a time zone', () => {
  it.each([
    'Europe/Vienna',
    'UTC',
    'Asia/Kolkata',
    'Asia/Calcutta',
    'America/Port-au-Prince',
    'Etc/GMT+5',
    'US/Pacific',
    'GB',
  ])('can be %s', (zone) => expect(isTimeZone(zone)).toBe(true));

  it.each(['europe/vienna', 'Europe/vienna', 'EUROPE/VIENNA', 'utc', '+01:00', 'Europe/Nowhere', ''])(
    'cannot be "%s", which Temporal does not know',
    (zone) => expect(isTimeZone(zone)).toBe(false),
  );
});
