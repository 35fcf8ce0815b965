/** A 404 may be a read that lags behind a write: it is believed when it has lasted. */
import { sleep } from '@temporalio/workflow';

const firstPauseMs = 1_000;
const longestPauseMs = 15_000;

/** Looks until there is something to see, or the lag has passed; null then. */
export async function confirmMissing<T>(readLagMs: number, look: () => Promise<T | null>): Promise<T | null> {
  const untilMs = Date.now() + readLagMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const seen = await look();
    const leftMs = untilMs - Date.now();
    if (seen !== null || leftMs <= 0) return seen;
    await sleep(Math.min(pauseMs, leftMs), { summary: 'a 404 may be a read that lags' });
  }
}
