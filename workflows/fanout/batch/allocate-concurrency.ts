/** Shares the batch's concurrency among its chunks. Pure. */

export interface ConcurrencyHolder {
  /** Items that have not ended. */
  readonly demand: number;
  /** The window that it was sent last. */
  readonly sent: number;
  /** The largest window that it may still act upon. */
  readonly charged: number;
}

/**
 * Fills the chunks in their order, so that few are at work at once and the batch goes on from the front. What one is to
 * give back counts as its own until it has said so, so that all together are never more than `limit` at work.
 *
 * @returns the window to send to each
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
