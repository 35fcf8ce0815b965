/** Which items of a batch a table may show, given its counters. Pure. */
import type { FanoutCounts } from '../../../protocol/fanout/fanout-progress.js';

export interface ItemRow {
  /** Place of the item in the batch, from 0. */
  readonly index: number;
  readonly itemId: string;
  /** What the item does, or how it ended; a few words. */
  readonly phase: string;
  /** Since when it does this, or when it ended, as an ISO 8601 time; null if unknown. */
  readonly since: string | null;
  /** What its agent said or ran last, or why it failed; empty if unknown. */
  readonly text: string;
  /** True if it cannot continue by itself. */
  readonly isBlocked?: boolean;
}

/** The items that run, as a list of them says. */
export interface RunningItems {
  /** Those that have been looked at, those that have run longest first. */
  readonly rows: readonly ItemRow[];
  /** Places of all that run. */
  readonly indexes: ReadonlySet<number>;
}

export interface KnownItems {
  /** Newest first. */
  readonly failures: readonly ItemRow[];
  /** `endedTries` are those of counters that were read before the list. */
  readonly running: RunningItems & { readonly endedTries: number };
  readonly counts: FanoutCounts;
}

export const noItems: RunningItems = { rows: [], indexes: new Set() };

/**
 * If the counters say that no try has ended since the list of the running items was asked for, every item of the list
 * still runs. Otherwise nothing says which of them do, and none is shown as running.
 */
export function shownItems({ failures, running, counts }: KnownItems) {
  const { rows, indexes } = running.endedTries === endedTries(counts) ? running : noItems;
  return {
    // An item that is retried runs.
    failed: failures.filter(({ index }) => !indexes.has(index)),
    // The list may have items that the counters do not have yet.
    running: rows.slice(0, Math.max(0, counts.running)),
  };
}

/** Number of items that have ended, with any outcome. */
export function endedOf({ items, queued, running }: FanoutCounts): number {
  return Math.max(0, items - queued - running);
}

/** Number of tries that have ended: the last ones of items, and those that were or will be repeated. */
export function endedTries(counts: FanoutCounts): number {
  return endedOf(counts) + counts.retried;
}
