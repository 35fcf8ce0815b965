import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Lag } from '../../../workflows/job/sandbox/wait-until-usable.js';
import { defaultTiming, safetyPollMs } from '../../../workflows/shared/wait-intervals.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a sandbox that is missing is given up after the time that a read may lag, not at a later poll', () => {
  const lag = new Lag(defaultTiming.readLagMs);
  const begin = Date.now();
  let polls = 0;
  for (; !lag.lasts('missing'); polls += 1) {
    vi.advanceTimersByTime(Math.min(safetyPollMs(defaultTiming, polls), lag.remainingMs()));
  }
  expect({ polls, ms: Date.now() - begin }).toEqual({ polls: 5, ms: 90_000 });
});
