/** Allocates the batch's concurrency to its chunks. Pure. */

export interface ConcurrencyHolder {
  /** Number of items that have not ended. */
  readonly demand: number;
  /** The window of the last grant. */
  readonly sent: number;
  /** The largest window that it may still use. */
  readonly charged: number;
}

/**
 * Fills the chunks in order, so that few run at the same time and the batch progresses from the front. What a chunk must
 * return counts as its own until it confirms the return, so that never more than `limit` items run.
 *
 * @returns the window to grant to each chunk
 */
export function allocateConcurrency(limit: number, holders: readonly ConcurrencyHolder[]): number[] {
  let free = limit - holders.reduce((sum, { charged }) => sum + charged, 0);
  let left = limit;
  return holders.map(({ demand, sent, charged }) => {
    const target = Math.min(demand, left);
    left -= target;
    if (target <= sent) return target;
    const reachable = Math.max(sent, Math.min(target, charged + Math.max(0, free)));
    free -= Math.max(0, reachable - charged);
    return reachable;
  });
}
