/**
 * Limits the number of events that a workflow receives. Anybody who may create sandboxes in the account can give a
 * sandbox the name of another job. Each signal then grows the history of that job. The changes of state of one sandbox
 * never reach the limit.
 */

export interface SignalAllowance {
  /** Returns false if the workflow has reached its limit. It finds the changes of dropped events by its polls. */
  takes(workflowId: string, sandboxId: string): boolean;
  reset(): void;
}

/** Limit for each sandbox. A stop and a resume together are about five events and take seconds. */
const maxPerSandbox = 60;
/** Limit for all sandboxes together, if their names lead to the same workflow. */
const maxOfAll = 300;
const periodMs = 60_000;
/** Maximum number of counters. Beyond it, the least recently used counter is reset. */
const maxCounts = 20_000;

/** @param now returns the present in ms. Default: ms since the epoch */
export function createSignalAllowance(now: () => number = Date.now): SignalAllowance {
  const periods = new Map<string, { readonly beganAtMs: number; count: number }>();

  function isWithin(key: string, most: number): boolean {
    const atMs = now();
    const known = periods.get(key);
    const period = known && atMs - known.beganAtMs < periodMs ? known : { beganAtMs: atMs, count: 0 };
    // Inserted again, so that the first entry of the map is the least recently used one.
    periods.delete(key);
    periods.set(key, period);
    if (periods.size > maxCounts) periods.delete(periods.keys().next().value ?? '');
    period.count += 1;
    return period.count <= most;
  }

  return {
    takes: (workflowId, sandboxId) =>
      isWithin(`${workflowId}\0${sandboxId}`, maxPerSandbox) && isWithin(workflowId, maxOfAll),
    reset: () => periods.clear(),
  };
}
