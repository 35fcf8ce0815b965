/**
 * Limits the events of a workflow. Anybody who may create sandboxes of the account can give one the name of another job, and
 * each signal grows the history of that job. No sandbox changes its state this often by itself.
 */

export interface SignalAllowance {
  /** False if the workflow is over its limit for now; its safety poll finds what it misses. */
  takes(workflowId: string, sandboxId: string): boolean;
  reset(): void;
}

/** A stop and a resume are some five events, and take seconds. */
const maxPerSandbox = 60;
/** Of all sandboxes whose names lead to one workflow. */
const maxOfAll = 300;
const periodMs = 60_000;
/** The most counters; beyond that, the least recently used one is reset. */
const maxCounts = 20_000;

/** @param now milliseconds; default: since the epoch */
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
