/** Allocates the concurrency and the budget of a batch to its chunks. Pure. */

export interface ConcurrencyHolder {
  /** Number of items that have not ended. */
  readonly demand: number;
  /** The number of concurrent items in the last grant. */
  readonly sent: number;
  /** The largest number of concurrent items that the chunk may still use. */
  readonly charged: number;
}

/**
 * Fills the chunks in order, so that few chunks run at the same time. If a chunk must reduce its number of concurrent
 * items (its window), the old number counts until the chunk confirms the new one. So at most `limit` items run.
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

export interface BudgetHolder {
  /** Machine-seconds that the chunk may use in total, including those already spent. */
  readonly charged: number;
  /** Machine-seconds that its cheapest waiting item needs beyond `charged`; 0 if no item waits. */
  readonly next: number;
  /** Machine-seconds that it needs beyond `charged` to use its whole window. */
  readonly wanted: number;
}

/**
 * Gives each chunk, in order, as much budget as it wants, or enough for one item, or nothing. It never gives less than
 * one item needs, because two chunks with half of that amount each would wait for each other.
 *
 * @param limit machine-seconds of the batch; null: no limit
 * @returns the total grant of each chunk
 */
export function allocateBudget(limit: number | null, holders: readonly BudgetHolder[]): (number | null)[] {
  if (limit === null) return holders.map(() => null);
  let free = limit - holders.reduce((sum, { charged }) => sum + charged, 0);
  return holders.map(({ charged, next, wanted }) => {
    const gift = wanted <= free ? wanted : next <= free ? next : 0;
    if (gift <= 0) return charged;
    free -= gift;
    return charged + gift;
  });
}

export interface SpendingHolder extends BudgetHolder {
  /** Machine-seconds granted and not spent, including reservations. */
  readonly unspent: number;
}

/** True if an item waits for budget, and no chunk can use or return any more budget. */
export function isBudgetSpent(limit: number | null, holders: readonly SpendingHolder[]): boolean {
  if (limit === null || holders.some(({ unspent }) => unspent > 0)) return false;
  const free = limit - holders.reduce((sum, { charged }) => sum + charged, 0);
  const waiting = holders.filter(({ next }) => next > 0);
  return waiting.length > 0 && waiting.every(({ next }) => next > free);
}
