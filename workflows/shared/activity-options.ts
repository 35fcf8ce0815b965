/**
 * The timeouts and retries of activities: one proxy per kind of guarantee, with the reason for each. A proxy has only the
 * activities for which these are right.
 */
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type {
  BulkActivities,
  CommandActivities,
  EffectActivities,
  FileActivities,
  LookupActivities,
  PlanningActivities,
  StoreActivities,
} from '../../activities/activity-kinds.js';
import type { FollowActivities, ForkActivities, NotifyActivities } from '../../activities/index.js';
import { timeToSend } from '../../src/contract/workflow-safe/transfer-time.js';

const retry = { initialInterval: '1 second', maximumInterval: '30 seconds' };

/**
 * Calls that change something. A call lasts at most 30 s, and heartbeats distinguish a dead worker from a slow service.
 * A cancel does not interrupt such a call. It waits until the outcome is known, at most for `scheduleToCloseTimeout`,
 * which the caller sets.
 */
const effectOptions = {
  startToCloseTimeout: '60 seconds',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry,
} as const;

export const effects = proxyActivities<EffectActivities>(effectOptions);

/** Timeout options of an effect that sends `bytes`: adds the time that a slow connection needs. */
export function timeForSending(bytes: number): { readonly startToCloseTimeout?: number } {
  const callMs = timeToSend(bytes);
  return callMs === undefined ? {} : { startToCloseTimeout: callMs + 30_000 };
}

/** Like `effects`, but on the task queue whose rate limit all workers share. A wait in that queue is not a failure. */
export function forkProxies(taskQueue: string) {
  return proxyActivities<ForkActivities>({ ...effectOptions, taskQueue });
}

/** Commands run at most once; heartbeats distinguish a dead worker from a long command. */
export const commands = proxyActivities<CommandActivities>({
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '15 seconds',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry,
});

/**
 * Writes to the result store. If the store fails for more than an hour, the result is lost and the wait ends. Heartbeats
 * distinguish a dead worker from a slow store.
 */
export const storing = proxyActivities<StoreActivities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '20 seconds',
  scheduleToCloseTimeout: '1 hour',
  retry,
});

/**
 * Reads or writes thousands of objects of the result store. Heartbeats distinguish a dead worker from a large batch.
 */
export const bulk = proxyActivities<BulkActivities>({
  startToCloseTimeout: '1 hour',
  scheduleToCloseTimeout: '6 hours',
  heartbeatTimeout: '1 minute',
  retry,
});

/** Queries to Temporal itself: at most a hundred describe calls. */
export const lookups = proxyActivities<LookupActivities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '20 seconds',
  retry,
});

/**
 * Each transfers up to 32 MiB twice: to or from the sandbox, and to or from the result store. Connections may be slow.
 */
export const files = proxyActivities<FileActivities>({
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '15 seconds',
  retry,
});

/** Transfers a folder of any size to the result store. Only heartbeats tell a dead worker from a large folder. */
export const folders = proxyActivities<Pick<FileActivities, 'collectFile'>>({
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '15 seconds',
  retry,
});

/** Reads a whole account, and looks up the owner of each sandbox in Temporal. Changes nothing. */
export const planning = proxyActivities<PlanningActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  scheduleToCloseTimeout: '2 hours',
  retry,
});

/** Nobody waits for a delivery, so it is retried for a day and then given up. */
export function deliveryProxies(taskQueue: string) {
  return proxyActivities<NotifyActivities>({
    taskQueue,
    startToCloseTimeout: '30 seconds',
    scheduleToCloseTimeout: '24 hours',
    retry: { initialInterval: '1 second', maximumInterval: '10 minutes' },
  });
}

/**
 * A follow lasts as long as its prompt, and a wait for another workflow lasts for hours. Both have their own task
 * queue, so that they do not delay a stop. If Temporal gives a task to a worker that is shutting down, the task is lost
 * until its heartbeat times out (temporalio/sdk-rust#1080). So a deploy may delay a follow by that time.
 */
export function followProxies(taskQueue: string) {
  return proxyActivities<Omit<FollowActivities, 'watchRunning'>>({ ...followOptions, taskQueue });
}

const followOptions = {
  startToCloseTimeout: '30 days',
  heartbeatTimeout: '40 seconds',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry,
} as const;

/** The follow of a prompt that has lasted for minutes. Each heartbeat is paid for, and a late end costs less. */
export const longFollow = { heartbeatTimeout: '5 minutes' } as const;

/**
 * The follower of prompts asks in rounds of half a minute. The time limit replaces heartbeats: if a worker dies, another
 * one goes on within a minute.
 */
export function followerProxies(taskQueue: string) {
  return proxyActivities<Pick<FollowActivities, 'watchRunning'>>({
    taskQueue,
    startToCloseTimeout: '45 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry,
  });
}
