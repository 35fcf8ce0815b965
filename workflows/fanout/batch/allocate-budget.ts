/** Shares the batch's budget among its chunks. Pure. */

export interface BudgetHolder {
  /** Machine-seconds that it may still act upon, those that it has spent included. */
  readonly charged: number;
  /** What its cheapest waiting item needs beyond that; 0 where nothing waits. */
  readonly next: number;
  /** What would let it use its whole window. */
  readonly wanted: number;
}

/**
 * Gives each chunk, in their order, what it wants, or what one item needs, or nothing. Never a part of what an item
 * needs: two chunks that each held half of it would wait for each other.
 *
 * @param limit null: no limit
 * @returns the grant of each, in all
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
  /** What it has been granted and has not spent, reservations included. */
  readonly unspent: number;
}

/** True where something waits for budget, and nobody has any to use or to give back. */
export function isBudgetSpent(limit: number | null, holders: readonly SpendingHolder[]): boolean {
  if (limit === null || holders.some(({ unspent }) => unspent > 0)) return false;
  const free = limit - holders.reduce((sum, { charged }) => sum + charged, 0);
  const waiting = holders.filter(({ next }) => next > 0);
  return waiting.length > 0 && waiting.every(({ next }) => next > free);
}
