/** Distinguishes the runs of a resumed batch. */
import type { ItemResult } from '../../protocol/fanout/fanout-result.js';

/**
 * True if the item ended before the newest run of its batch began. Its counts and machine time then belong to an
 * earlier run. False for an item that was not started.
 * @param runStartMs start of the newest run, in ms since the epoch
 */
export function endedInEarlierRun({ times }: Pick<ItemResult, 'times'>, runStartMs: number): boolean {
  const known = Object.values(times).flatMap((time) => {
    const at = Date.parse(time ?? '');
    return Number.isNaN(at) ? [] : [at];
  });
  return known.length > 0 && Math.max(...known) < runStartMs;
}
