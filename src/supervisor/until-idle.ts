/** Says when a stack has had nothing to do for long enough. */
import { setTimeout as sleep } from 'node:timers/promises';

const maxCheckIntervalMs = 2_000;

export interface UntilIdleOptions {
  /** Clients that are connected now. */
  readonly clients: () => number;
  /** Asks Temporal. An error counts as busy: what is not known to have ended has not ended. */
  readonly openJobs: () => Promise<number>;
  /** How long there must have been neither, in ms. */
  readonly idleMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Resolves true when no client and no open job have been seen for `idleMs`, false when the signal ends the wait. */
export async function untilIdle({ clients, openJobs, idleMs, signal }: UntilIdleOptions): Promise<boolean> {
  const lookEveryMs = Math.min(maxCheckIntervalMs, Math.max(idleMs / 4, 20));
  let quietSince: number | undefined;
  while (!signal.aborted) {
    const quiet = clients() === 0 && (await openJobs().catch(() => 1)) === 0 && clients() === 0;
    if (!quiet) quietSince = undefined;
    else if (quietSince === undefined) quietSince = Date.now();
    else if (Date.now() - quietSince >= idleMs) return true;
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
