/** Retries a call that the service refuses temporarily, until the service accepts it. Temporal's UI shows the waits. */
import { ApplicationFailure, patched, sleep, TimeoutFailure } from '@temporalio/workflow';
import { type ServiceFailure, unanswered } from '../../src/contract/workflow-safe/service-failure.js';
import type { NotifyTarget } from '../../src/protocol/job/job-input.js';
import type { JobProgress } from '../../src/protocol/job/job-progress.js';
import { serviceFailureOf } from './job-termination.js';
import { countRefusedCall, observeBlock } from './metrics.js';
import { sendNotification } from './send-notification.js';
import { refusedCallDelayMs } from './wait-intervals.js';

type Blocked = NonNullable<JobProgress['blocked']>;

/** The caller, such as a job or a stop. It shows why its calls are blocked, and knows whom to notify. */
export interface Caller {
  readonly input: { readonly jobId: string | null; readonly notify?: NotifyTarget };
  readonly sandbox: { readonly id: string } | null;
  readonly blocked: Blocked | null;
  block(blocked: Omit<Blocked, 'since'>): void;
  unblock(): void;
  /** Called before each wait. Throws if the caller must continue as new instead. */
  continueAsNewIfDue?(): void;
  /** Called when the service throttles a call, with the time of the next attempt, in ms since the epoch. */
  readonly onThrottled?: ((untilMs: number) => void) | undefined;
}

/**
 * Meanings of refusals that a person can resolve. The number says after how many refusals the job shows the next one
 * and notifies.
 */
const shownAfterTries: Readonly<Record<string, number>> = {
  blocked: 0,
  throttled_for_long: 0,
  unavailable: 4,
  unreadable: 2,
};

/**
 * Retries a call until the service accepts it.
 * @param call an activity. Refusals and unanswered reads are retried here; the activity's own retry policy handles
 *   effects with an ambiguous outcome.
 * @throws the error of the activity, if waiting does not help: also after a few equal answers that cannot be read
 */
export async function retryRefusals<T>(run: Caller, step: string, call: () => Promise<T>): Promise<T> {
  let last: { readonly message: string; readonly times: number } | undefined;
  for (let tries = 0; ; tries += 1) {
    try {
      const value = await call();
      if (tries > 0) run.unblock();
      return value;
    } catch (error) {
      const refusal = serviceFailureOf(error) ?? unansweredRead(error);
      if (!refusal) throw error;
      const { message, meaning } = refusal;
      // Workers of the version before give up at once.
      if (meaning === 'unreadable' && !patched('unreadable-answers')) throw error;
      last = { message, times: last?.message === message ? last.times + 1 : 0 };
      const delayMs = refusedCallDelayMs(refusal, meaning === 'unreadable' ? last.times : tries);
      if (delayMs === undefined) throw error;
      countRefusedCall(step, refusal);
      if (tries >= (shownAfterTries[refusal.meaning] ?? Number.POSITIVE_INFINITY) && run.blocked === null) {
        run.block({ reason: 'service_refuses', step, message: `${refusal.code}: ${refusal.message}` });
        void sendNotification(run, 'blocked', null, refusal.message);
      }
      if (run.blocked) observeBlock(run.blocked, refusal.code);
      run.continueAsNewIfDue?.();
      const waitMs = delayMs * (1 + Math.random() / 4);
      if (refusal.meaning.startsWith('throttled_')) run.onThrottled?.(Date.now() + waitMs);
      await sleep(waitMs, { summary: `${step}: ${refusal.code}, retried after this` });
    }
  }
}

/**
 * Treats a read that failed without an answer of the service like one that the service did not answer: three workers in
 * a row were drained or killed, or the result store was away. Failures of effects arrive wrapped, and have no limit of
 * attempts.
 */
function unansweredRead(error: unknown): ServiceFailure | undefined {
  if (error instanceof TimeoutFailure) {
    const message = 'The service did not answer in time';
    return { ...unanswered, code: 'timeout', message, meaning: 'unavailable' };
  }
  if (!(error instanceof ApplicationFailure) || error.nonRetryable) return undefined;
  return { ...unanswered, code: 'activity_failed', message: error.message, meaning: 'unavailable' };
}
