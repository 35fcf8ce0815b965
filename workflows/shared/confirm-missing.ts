/**
 * Confirms that an object is missing. A 404 may come from a stale read, so it counts only if it lasts. See trap S5.
 */
import { sleep } from '@temporalio/workflow';
import { longestLagPauseMs } from '../../src/contract/workflow-safe/limits.js';

const firstPauseMs = 1_000;

/**
 * Repeats a read while it finds nothing, until the lag has passed.
 * @param isMissing returns true for a result that may be stale. Default: true for null
 * @returns the last result
 */
export async function confirmMissing<T>(
  readLagMs: number,
  read: () => Promise<T>,
  isMissing = (seen: T): boolean => seen === null,
): Promise<T> {
  const untilMs = Date.now() + readLagMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestLagPauseMs, pauseMs * 2)) {
    const seen = await read();
    const leftMs = untilMs - Date.now();
    if (!isMissing(seen) || leftMs <= 0) return seen;
    await sleep(Math.min(pauseMs, leftMs), { summary: 'the read may be stale' });
  }
}
