/**
 * The clock of the local service. Every rule that involves time reads it, so a test can stop it and move it forward by
 * days at once. Network timeouts, agents and processes run in real time.
 */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** The current time as a date-time. */
  iso(): string;
  /**
   * Calls `run` once when the clock reaches `atMs`. The returned function cancels the call.
   * @param options.passedOver true if `advance` need not stop at `atMs`: `run` is then called once, at the end of the
   *   advance
   */
  at(atMs: number, run: () => void, options?: { readonly passedOver?: boolean }): () => void;
  /** Resolves after `ms` on this clock; rejects with the signal's reason. */
  delay(ms: number, signal: AbortSignal): Promise<void>;
}

export interface ClockState {
  /** How far the clock is ahead of the real time; meaningless while the clock is held. */
  readonly aheadMs: number;
  /** The time at which the clock stands still; null while it runs. */
  readonly heldAt: number | null;
}

export interface ControlledClock extends Clock {
  state(): ClockState;
  /** Makes the clock stand still from now on. Repeating it changes nothing. */
  hold(): void;
  /** Lets the clock run on from the time at which it stands. Repeating it changes nothing. */
  release(): void;
  /**
   * Moves the clock forward. Halts at each time at which something is due, and waits until that work has ended.
   * Resolves when all work has ended. Concurrent calls are carried out one after another.
   */
  advance(ms: number): Promise<void>;
  /** Moves a clock that is behind the real time forward to it, like `advance`. One that is ahead stays ahead. */
  catchUp(): Promise<void>;
  /** Sets the clock to the real time and lets it run. Each timer still fires at the time that it was set for. */
  reset(): void;
  /** Registers work that `advance` waits for whenever it halts. */
  waitFor(work: { readonly busy: () => boolean; readonly idle: () => Promise<void> }): void;
  /** Forgets every timer. */
  close(): void;
}

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
  readonly passedOver: boolean;
}

const maxTimerMs = 2_000_000_000;
const running: ClockState = { aheadMs: 0, heldAt: null };

/** @param options.save called with the state after each change, so that a restart can pass it as `initial` */
export function createClock(
  options: { readonly initial?: ClockState; readonly save?: (state: ClockState) => void } = {},
): ControlledClock {
  let { aheadMs, heldAt } = options.initial ?? running;
  const timers = new Set<Timer>();
  const works: { readonly busy: () => boolean; readonly idle: () => Promise<void> }[] = [];
  let wake: NodeJS.Timeout | undefined;
  let advancing = 0;
  let tail: Promise<void> = Promise.resolve();

  const now = (): number => heldAt ?? Date.now() + aheadMs;

  function changed(): void {
    options.save?.({ aheadMs, heldAt });
    arm();
  }

  /** Sets the real timer for the earliest timer of this clock. */
  function arm(): void {
    clearTimeout(wake);
    const next = earliest(timers);
    if (!next) return;
    const waitMs = next.atMs - now();
    if (waitMs > 0 && heldAt !== null) return;
    wake = setTimeout(fire, Math.min(Math.max(0, waitMs), maxTimerMs));
  }

  function fire(): void {
    const at = now();
    const due = [...timers].filter(({ atMs, passedOver }) => atMs <= at && !(passedOver && advancing > 0));
    for (const timer of due.sort((a, b) => a.atMs - b.atMs)) if (timers.delete(timer)) timer.run();
    arm();
  }

  function moveTo(atMs: number): void {
    if (atMs <= now()) return;
    if (heldAt === null) aheadMs = atMs - Date.now();
    else heldAt = atMs;
  }

  async function settled(): Promise<void> {
    do {
      // If a timer or a commit starts work, the work begins in a later turn of the event loop.
      await new Promise(setImmediate);
      await Promise.all(works.map(({ idle }) => idle()));
    } while (works.some(({ busy }) => busy()));
  }

  async function stepTo(targetMs: number): Promise<void> {
    advancing++;
    try {
      await settled();
      for (;;) {
        const next = earliest([...timers].filter(({ passedOver }) => !passedOver));
        if (!next || next.atMs > targetMs) break;
        moveTo(next.atMs);
        fire();
        await settled();
      }
      moveTo(targetMs);
    } finally {
      advancing--;
    }
    changed();
    fire();
    await settled();
  }

  /** Runs `move` once every earlier move has ended. */
  function inTurn(move: () => Promise<void>): Promise<void> {
    const step = tail.then(move);
    tail = step.catch(() => undefined);
    return step;
  }

  return {
    now,
    iso: () => new Date(now()).toISOString(),
    at(atMs, run, { passedOver = false } = {}) {
      const timer = { atMs, run, passedOver };
      timers.add(timer);
      arm();
      return () => void timers.delete(timer);
    },
    delay(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = () => {
          cancel();
          reject(signal.reason);
        };
        const cancel = this.at(now() + ms, () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        });
        signal.addEventListener('abort', onAbort, { once: true });
      });
    },
    state: () => ({ aheadMs, heldAt }),
    hold() {
      if (heldAt !== null) return;
      heldAt = now();
      changed();
    },
    release() {
      if (heldAt === null) return;
      aheadMs = heldAt - Date.now();
      heldAt = null;
      changed();
    },
    advance: (ms) => inTurn(() => stepTo(now() + ms)),
    catchUp: () =>
      inTurn(async () => {
        if (now() >= Date.now()) return;
        await stepTo(Date.now());
        // Real time has passed during the steps.
        moveTo(Date.now());
        changed();
      }),
    reset() {
      ({ aheadMs, heldAt } = running);
      changed();
    },
    waitFor: (work) => void works.push(work),
    close() {
      clearTimeout(wake);
      timers.clear();
    },
  };
}

function earliest(timers: Iterable<Timer>): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers) if (!first || timer.atMs < first.atMs) first = timer;
  return first;
}
