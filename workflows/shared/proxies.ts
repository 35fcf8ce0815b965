/** The activities as workflows see them: one proxy per promise, each with the reason for its timeouts. */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { FollowActivities, ForkActivities, NotifyActivities, SandflowActivities } from '../../activities/index.js';
import { timeToSend } from '../../src/contract/transfer-time.js';
import { abandonOnCancel } from './abandon-on-cancel.js';

/**
 * Reads are short and may run twice, so they run inside the workflow task that they follow from. The client gives one
 * up after 30 s. A service that is away for longer than a moment is waited for by `patiently`, where the wait is seen and
 * costs few events. Their failures reach the workflow bare, and not within an `ActivityFailure`.
 */
const localReads = proxyLocalActivities<SandflowActivities>({
  startToCloseTimeout: '45 seconds',
  retry: { initialInterval: '500 milliseconds', maximumAttempts: 3 },
});

/** Each is left behind, and not cancelled, where its waiter is cancelled: see `abandonOnCancel`. */
export const reads: SandflowActivities = new Proxy({} as SandflowActivities, {
  get: (_, name: keyof SandflowActivities) => {
    const read = localReads[name] as (...args: unknown[]) => Promise<unknown>;
    return (...args: unknown[]) => abandonOnCancel(() => read(...args));
  },
});

const retry = { initialInterval: '1 second', maximumInterval: '30 seconds' };

/**
 * Effects. A call lasts 30 s at most; beats tell a dead worker from a slow service. They are never cut in the middle:
 * a cancel waits until it is known what the call did, at most for `scheduleToCloseTimeout`, set where they are called.
 */
export const effects = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '60 seconds',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry,
});

/** Options of an effect that sends so many bytes: what a slow line needs comes on top of the time of a small one. */
export function timeForSending(bytes: number): { readonly startToCloseTimeout?: number } {
  const callMs = timeToSend(bytes);
  return callMs === undefined ? {} : { startToCloseTimeout: callMs + 30_000 };
}

/** As `effects`, on the task queue whose rate all workers share: how long a call waits there is nobody's failure. */
export function forkProxies(taskQueue: string) {
  return proxyActivities<ForkActivities>({
    taskQueue,
    startToCloseTimeout: '60 seconds',
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry,
  });
}

/** Run once, so there is nothing to repeat; beats tell a dead worker from a long command. */
export const commands = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '15 seconds',
  retry,
});

/** Writes to the result store. A store that is out of order for longer has lost the result, and ends the wait. */
export const storing = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '5 minutes',
  scheduleToCloseTimeout: '1 hour',
  retry,
});

/** Moves up to 32 MiB, twice: to or from the sandbox and the result store, on a line that may be slow. */
export const files = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '15 seconds',
  retry,
});

/** Reads a whole account, and asks Temporal about the owner of each sandbox. Changes nothing. */
export const planning = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  scheduleToCloseTimeout: '2 hours',
  retry,
});

/** Only for runs that began before deliveries had workflows of their own: their results wait for it. */
export const notifications = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '3 minutes',
  retry,
});

/** Nobody waits for it, so whoever is to be told may be away for a day; then it is given up. */
export function deliveryProxies(taskQueue: string) {
  return proxyActivities<NotifyActivities>({
    taskQueue,
    startToCloseTimeout: '30 seconds',
    scheduleToCloseTimeout: '24 hours',
    retry: { initialInterval: '1 second', maximumInterval: '10 minutes' },
  });
}

/** Follows last as long as the work, on a task queue of their own, where they cannot starve stops. */
export function followProxies(taskQueue: string) {
  return proxyActivities<FollowActivities>({
    taskQueue,
    startToCloseTimeout: '30 days',
    heartbeatTimeout: '60 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  });
}
