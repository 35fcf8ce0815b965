/**
 * One timer for all waits of a workflow. Most waits end before their time: a deadline, a renewal, a safety poll. Each
 * timer of its own would cost two events and some promises. So a timer is started only if none ends early enough, and
 * it is left running when its wait has ended.
 */
import { CancellationScope, condition, sleep } from '@temporalio/workflow';
import { ownState } from './own-state.js';

/** A wait for a time. */
interface Wait {
  /** In ms since the epoch; may be infinite. */
  readonly untilMs: number;
  /** What the wait is for, as Temporal's UI shows it. */
  readonly summary: string;
  readonly onTime: () => void;
}

interface Timer {
  readonly endsAtMs: number;
  readonly cancel: () => void;
}

class SharedTimer {
  private readonly waits = new Set<Wait>();
  private readonly timers = new Set<Timer>();

  add(wait: Wait): void {
    this.waits.add(wait);
    this.ensure();
  }

  remove(wait: Wait): void {
    this.waits.delete(wait);
  }

  /** Cancels the timers that end before the next wait does. */
  tidy(): void {
    const next = this.next()?.untilMs ?? Number.POSITIVE_INFINITY;
    for (const timer of this.timers) {
      if (timer.endsAtMs >= next) continue;
      this.timers.delete(timer);
      timer.cancel();
    }
    this.ensure();
  }

  private next(): Wait | undefined {
    let next: Wait | undefined;
    for (const wait of this.waits) if (wait.untilMs < (next?.untilMs ?? Number.POSITIVE_INFINITY)) next = wait;
    return next;
  }

  /** Starts a timer unless one ends early enough. */
  private ensure(): void {
    const next = this.next();
    if (!next) return;
    for (const { endsAtMs } of this.timers) if (endsAtMs <= next.untilMs) return;
    // Whoever waits may be cancelled, but the timer is for all.
    const shield = new CancellationScope({ cancellable: false });
    const scope = new CancellationScope({ cancellable: true, parent: shield });
    const timer = { endsAtMs: next.untilMs, cancel: () => scope.cancel() };
    this.timers.add(timer);
    const ms = Math.max(1, Math.ceil(next.untilMs - Date.now()));
    scope
      .run(() => sleep(ms, { summary: next.summary }))
      .then(
        () => this.end(timer),
        () => undefined,
      );
  }

  private end(timer: Timer): void {
    this.timers.delete(timer);
    // The clock of the worker that takes the task may be behind.
    const nowMs = Math.max(Date.now(), timer.endsAtMs);
    for (const wait of [...this.waits]) {
      if (wait.untilMs > nowMs) continue;
      this.waits.delete(wait);
      wait.onTime();
    }
    this.ensure();
  }
}

const sharedTimer = ownState('shared-timer', () => new SharedTimer());

/**
 * Waits until a condition is met, or until a time. Like `condition` with a timeout, with the shared timer.
 * @param untilMs in ms since the epoch; may be infinite
 * @param summary what the wait is for, as Temporal's UI shows it
 * @returns false if the time came first
 */
export async function conditionUntil(isMet: () => boolean, untilMs: number, summary: string): Promise<boolean> {
  if (isMet()) return true;
  let isOver = untilMs <= Date.now();
  const wait = {
    untilMs,
    summary,
    onTime: () => {
      isOver = true;
    },
  };
  if (!isOver) sharedTimer().add(wait);
  try {
    await condition(() => isOver || isMet());
  } finally {
    sharedTimer().remove(wait);
  }
  return isMet();
}

/**
 * Runs a step in a scope that is cancelled after a time.
 * @param summary what the time is for, as Temporal's UI shows it
 */
export async function runFor<T>(
  scope: CancellationScope,
  { ms, summary }: { readonly ms: number; readonly summary: string },
  step: () => Promise<T>,
): Promise<T> {
  const wait = { untilMs: Date.now() + ms, summary, onTime: () => scope.cancel() };
  sharedTimer().add(wait);
  try {
    return await scope.run(step);
  } finally {
    sharedTimer().remove(wait);
  }
}

/** Call it when a long wait begins: a timer of an earlier wait would end for nothing. */
export function cancelEarlyTimers(): void {
  sharedTimer().tidy();
}
