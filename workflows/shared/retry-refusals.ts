/** Makes a call that the service may refuse for a while, and waits visibly until it accepts. */
import { sleep, TimeoutFailure } from '@temporalio/workflow';
import type { Counted, ServiceFailure } from '../../src/contract/service-failure.js';
import { serviceFailureOf } from '../job/termination.js';
import type { JobProgress, NotifyTarget } from '../job/types.js';
import { sendNotification } from '../notification/notify.js';
import { refusedCallDelayMs } from './timing.js';

type Blocked = NonNullable<JobProgress['blocked']>;

/** Whose calls they are: it counts them, shows what blocks them, and names who is told. A job, or a stop. */
export interface Caller {
  readonly input: { readonly jobId: string | null; readonly notify?: NotifyTarget };
  readonly sandbox: { readonly id: string } | null;
  readonly blocked: Blocked | null;
  apiCalls: number;
  block(blocked: Omit<Blocked, 'since'>): void;
  unblock(): void;
  /** Called before each wait; throws where the caller is to leave instead. */
  goOnAsNewIfDue?(): void;
  /** Told when the service throttles a call, with the time at which it is tried again. */
  readonly onThrottled?: ((untilMs: number) => void) | undefined;
}

/** Somebody can do something about these, so they are shown and told: at once, or when they last. */
const shownAfterTries: Readonly<Record<string, number>> = { blocked: 0, throttled_for_long: 0, unavailable: 4 };

/**
 * @param call an activity: refusals are repeated here, and so are reads that the service does not answer. What is ambiguous
 *   about an effect is repeated by the activity's own retry policy.
 * @throws what the activity threw, where waiting does not help
 */
export async function retryRefusals<T>(run: Caller, step: string, call: () => Promise<Counted<T>>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      const { value, calls } = await call();
      run.apiCalls += calls;
      if (tries > 0) run.unblock();
      return value;
    } catch (error) {
      const refusal = serviceFailureOf(error) ?? unansweredRead(error);
      if (!refusal) throw error;
      run.apiCalls += refusal.calls;
      const delayMs = refusedCallDelayMs(refusal, tries);
      if (delayMs === undefined) throw error;
      if (tries >= (shownAfterTries[refusal.meaning] ?? Number.POSITIVE_INFINITY) && run.blocked === null) {
        run.block({ reason: 'service_refuses', step, message: `${refusal.code}: ${refusal.message}` });
        void sendNotification(run, 'blocked', null, refusal.message);
      }
      run.goOnAsNewIfDue?.();
      const waitMs = delayMs * (1 + Math.random() / 4);
      if (refusal.meaning.startsWith('throttled_')) run.onThrottled?.(Date.now() + waitMs);
      await sleep(waitMs, { summary: `${step}: ${refusal.code}, tried again after this` });
    }
  }
}

/** A read whose worker did not end it in time says as little as one that was not answered. */
function unansweredRead(error: unknown): ServiceFailure | undefined {
  if (!(error instanceof TimeoutFailure)) return undefined;
  const unanswered = { endpoint: null, status: null, requestId: null, retryAfterMs: null, details: null, calls: 1 };
  return { ...unanswered, code: 'timeout', message: 'The service did not answer in time', meaning: 'unavailable' };
}
