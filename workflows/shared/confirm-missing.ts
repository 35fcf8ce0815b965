/**
 * Confirms that something is missing: a 404 may be a read that lags behind a write, so it counts only once it has
 * lasted.
 */
import { sleep } from '@temporalio/workflow';

const firstPauseMs = 1_000;
const longestPauseMs = 15_000;

/** Repeats a read until it finds something, or until the lag has passed. @returns null in that case */
export async function confirmMissing<T>(readLagMs: number, look: () => Promise<T | null>): Promise<T | null> {
  const untilMs = Date.now() + readLagMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const seen = await look();
    const leftMs = untilMs - Date.now();
    if (seen !== null || leftMs <= 0) return seen;
    await sleep(Math.min(pauseMs, leftMs), { summary: 'a 404 may be a read that lags' });
  }
}
