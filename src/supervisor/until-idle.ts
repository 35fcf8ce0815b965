/** Waits until a stack has had nothing to do for long enough. */
import { setTimeout as sleep } from 'node:timers/promises';

const maxCheckIntervalMs = 2_000;

interface UntilIdleOptions {
  /** Number of clients that are connected now. */
  readonly clients: () => number;
  /** Requests the number of open jobs from Temporal. If this fails, the stack counts as busy: jobs may be open. */
  readonly openJobs: () => Promise<number>;
  /** How long there must have been no clients and no open jobs, in ms. */
  readonly idleMs: number;
  /** True if the stack stays up while it is idle. Default: false. */
  readonly isKept?: () => boolean;
  /**
   * Called at each check with the time since which the stack is idle, in ms since the epoch; undefined while it is not
   * idle.
   */
  readonly onCheck?: (quietSinceMs: number | undefined) => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Resolves true when no client and no open job have been seen for `idleMs`, false when the signal ends the wait. */
export async function untilIdle(options: UntilIdleOptions): Promise<boolean> {
  const { clients, openJobs, idleMs, isKept = () => false, onCheck, signal } = options;
  const checkIntervalMs = Math.min(maxCheckIntervalMs, Math.max(idleMs / 4, 20));
  let quietSince: number | undefined;
  while (!signal.aborted) {
    const isQuiet = async () =>
      !isKept() && clients() === 0 && (await openJobs().catch(() => 1)) === 0 && clients() === 0 && !isKept();
    if (!(await isQuiet())) quietSince = undefined;
    else if (quietSince === undefined) quietSince = Date.now();
    else if (Date.now() - quietSince >= idleMs) return true;
    onCheck?.(quietSince);
    await sleep(checkIntervalMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
