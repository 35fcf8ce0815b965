import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorMeanings } from '../../../src/contract/workflow-safe/error-codes.js';
import {
  defaultTiming,
  refusedCallDelayMs,
  renewClaimInMs,
  renewLeaseInMs,
  safetyPollMs,
} from '../../../workflows/shared/wait-intervals.js';

describe('the default times', () => {
  it('are those that the documents promise: a 404 counts after 90 s, and a clean-up lasts at most 15 minutes', () => {
    expect(defaultTiming).toMatchObject({ readLagMs: 90_000, cleanUpMs: 900_000, safetyPollMaxMs: 300_000 });
  });

  it('renew a lease and a claim so early that one renewal may fail', () => {
    const claimLastsMs = 600_000;
    expect(2 * renewLeaseInMs(defaultTiming, true)).toBeLessThan(defaultTiming.leaseLastsMs);
    expect(renewLeaseInMs(defaultTiming, false)).toBeLessThanOrEqual(15_000);
    expect(2 * renewClaimInMs(defaultTiming)).toBeLessThan(claimLastsMs);
  });
});

describe('safetyPollMs', () => {
  it('starts short, never shrinks and stays below its limit', () => {
    fc.assert(
      fc.property(fc.nat(2_000), (polls) => {
        const now = safetyPollMs(defaultTiming, polls);
        expect(now).toBeLessThanOrEqual(defaultTiming.safetyPollMaxMs);
        expect(safetyPollMs(defaultTiming, polls + 1)).toBeGreaterThanOrEqual(now);
      }),
    );
    expect(safetyPollMs(defaultTiming, 0)).toBe(defaultTiming.safetyPollFirstMs);
  });

  it('has a shorter limit the more events in a row were lost, but never below its first interval', () => {
    const longest = [0, 1, 2, 3, 50].map((missed) => safetyPollMs(defaultTiming, 2_000, missed));
    expect(longest).toEqual([300_000, 75_000, 18_750, 5_000, 5_000]);
    expect(safetyPollMs({ ...defaultTiming, safetyPollFirstMs: 9_000, safetyPollMaxMs: 4_000 }, 0, 9)).toBe(4_000);
  });
});

describe('refusedCallDelayMs', () => {
  it('never repeats what is permanent', () => {
    expect(refusedCallDelayMs({ meaning: 'permanent', retryAfterMs: 5 }, 0)).toBeUndefined();
  });

  it('keeps retrying an unavailable service, with growing delays', () => {
    const delays = [0, 1, 2, 5, 50].map((tries) =>
      refusedCallDelayMs({ meaning: 'unavailable', retryAfterMs: null }, tries),
    );
    expect(delays).toEqual([2_000, 4_000, 8_000, 64_000, 120_000]);
  });

  it('gives up an unreadable answer after a minute', () => {
    const delays = [0, 1, 2, 3, 4, 5].map((tries) =>
      refusedCallDelayMs({ meaning: 'unreadable', retryAfterMs: null }, tries),
    );
    expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, undefined]);
  });

  it('gives up after a few attempts of a call that may succeed at a second one', () => {
    const tries = [0, 1, 2, 3, 4].map((n) => refusedCallDelayMs({ meaning: 'few_tries', retryAfterMs: null }, n));
    expect(tries.filter((delay) => delay !== undefined)).toHaveLength(4);
    expect(tries.at(-1)).toBeUndefined();
  });

  it('S14: backs off for seconds from a rate limit and for minutes from a daily limit', () => {
    expect(refusedCallDelayMs({ meaning: 'throttled_shortly', retryAfterMs: null }, 0)).toBeLessThan(10_000);
    expect(refusedCallDelayMs({ meaning: 'throttled_for_long', retryAfterMs: null }, 0)).toBeGreaterThanOrEqual(60_000);
  });

  it('waits at least as long as the service asks', () => {
    const retryAfterMs = fc.integer({ min: 0, max: 3_600_000 });
    fc.assert(
      fc.property(fc.constantFrom(...errorMeanings), retryAfterMs, fc.nat(50), (meaning, asked, tries) => {
        const delay = refusedCallDelayMs({ meaning, retryAfterMs: asked }, tries);
        if (delay !== undefined) expect(delay).toBeGreaterThanOrEqual(asked);
      }),
    );
  });
});
