/** Waits until a workflow ends, the user detaches, or the watch deadline passes. Reconnects after a lost connection. */
import { anySignal, timeLimit } from '../../os/any-signal.js';
import { isTemporalUnreachable } from '../../temporal/errors.js';
import type { Unfinished } from '../exit-codes.js';

export interface WatchOptions {
  readonly interrupted: AbortSignal;
  /** The watch's own deadline, in ms from now; none by default. */
  readonly deadlineMs?: number;
}

export interface Watched<End> {
  /** Waits for the end. Called again after each reconnect. */
  wait(signal: AbortSignal): Promise<End>;
  /** Shows progress until the signal aborts. Never throws. */
  look?(signal: AbortSignal): Promise<void>;
  reconnect(): Promise<void>;
}

/** @throws what `wait` throws, and what `reconnect` throws if Temporal stays unreachable */
export async function watch<End>(
  { wait, look, reconnect }: Watched<End>,
  { interrupted, deadlineMs }: WatchOptions,
): Promise<End | Unfinished> {
  const over = anySignal([interrupted, ...(deadlineMs === undefined ? [] : [timeLimit(deadlineMs)])]);
  const closed = new AbortController();
  const looking = look?.(anySignal([over, closed.signal]));
  try {
    for (;;) {
      try {
        return await wait(over);
      } catch (error) {
        if (interrupted.aborted) return { kind: 'detached' };
        if (over.aborted) return { kind: 'deadline' };
        if (!isTemporalUnreachable(error)) throw error;
        await reconnect().catch((failed: unknown) => {
          if (!interrupted.aborted) throw failed;
        });
        if (interrupted.aborted) return { kind: 'detached' };
      }
    }
  } finally {
    closed.abort();
    await looking;
  }
}
