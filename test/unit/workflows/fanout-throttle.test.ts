import fc from 'fast-check';
import { expect, it } from 'vitest';
import { freshThrottle, recovered, throttled } from '../../../workflows/fanout/batch/throttle.js';

const rules = { concurrency: 40, recoverEveryMs: 10_000 };

it('a throttled batch halves its concurrency and pauses at a refusal, once for simultaneous ones', () => {
  const once = throttled(freshThrottle(40), { untilMs: 5_000, nowMs: 1_000 }, rules);
  expect(once).toEqual({ limit: 20, pausedUntilMs: 5_000, cutAtMs: 1_000 });
  const twice = throttled(once, { untilMs: 4_000, nowMs: 1_100 }, rules);
  expect(twice).toEqual(once);
  expect(throttled(once, { untilMs: 9_000, nowMs: 1_100 }, rules)).toEqual({ ...once, pausedUntilMs: 9_000 });
  expect(throttled(once, { untilMs: 30_000, nowMs: 11_000 }, rules)).toMatchObject({ limit: 10, cutAtMs: 11_000 });
});

it('a throttled batch grows by a tenth at a time after the pause, and not during it', () => {
  const slow = { limit: 10, pausedUntilMs: 5_000, cutAtMs: 1_000 };
  expect(recovered(slow, 4_999, rules)).toEqual(slow);
  expect(recovered(slow, 5_000, rules)).toMatchObject({ limit: 14, pausedUntilMs: null });
  expect(recovered({ ...slow, limit: 39 }, 6_000, rules).limit).toBe(40);
});

it('a throttled batch runs at least one item and never more than requested', () => {
  const step = fc.record({ isRefusal: fc.boolean(), afterMs: fc.nat(30_000), pauseMs: fc.nat(60_000) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.array(step), (concurrency, steps) => {
      const own = { ...rules, concurrency };
      let state = freshThrottle(concurrency);
      let nowMs = 0;
      for (const { isRefusal, afterMs, pauseMs } of steps) {
        nowMs += afterMs;
        state = isRefusal ? throttled(state, { untilMs: nowMs + pauseMs, nowMs }, own) : recovered(state, nowMs, own);
        expect(state.limit).toBeGreaterThanOrEqual(1);
        expect(state.limit).toBeLessThanOrEqual(concurrency);
      }
    }),
  );
});
