/** How late the machine is: a chain of a timer, a call to the service and a call to Temporal, one after another. */
import { setTimeout as sleep } from 'node:timers/promises';

/** One step of the chain took longer than on a quiet machine. */
export interface Late {
  readonly of: 'timer' | 'service' | 'temporal';
  /** When the step began and ended, in ms since the epoch. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** How much longer it took. At most the length of the step. */
  readonly lateMs: number;
}

export interface LatenessOptions {
  /** Short calls that change nothing. One that is refused says nothing: its part is away. */
  readonly service: () => Promise<unknown>;
  readonly temporal: () => Promise<unknown>;
  readonly signal: AbortSignal;
}

const pauseMs = 200;
/** What a call takes on a quiet machine, generously. */
const usualCallMs = 20;

/** Measures until the signal aborts. @returns what was late so far, which grows */
export function measureLateness({ service, temporal, signal }: LatenessOptions): readonly Late[] {
  const late: Late[] = [];
  const step = async (of: Late['of'], usualMs: number, what: () => Promise<unknown>) => {
    const fromMs = Date.now();
    try {
      await what();
    } catch {
      return;
    }
    const untilMs = Date.now();
    const lateMs = untilMs - fromMs - usualMs;
    if (lateMs > 0) late.push({ of, fromMs, untilMs, lateMs });
  };
  const chain = async () => {
    while (!signal.aborted) {
      await step('timer', pauseMs, () => sleep(pauseMs, undefined, { signal }));
      await step('service', usualCallMs, service);
      await step('temporal', usualCallMs, temporal);
    }
  };
  void chain();
  return late;
}
