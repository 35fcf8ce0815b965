/** Proxies of the activities that only batches use: one per kind of guarantee, each with the reason for its timeouts. */
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { FollowActivities, SandflowActivities } from '../../activities/index.js';

const retry = { initialInterval: '1 second', maximumInterval: '30 seconds' };

/** Queries to Temporal itself: at most a hundred describe calls. */
export const lookups = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '20 seconds',
  retry,
});

/** Reads or writes thousands of objects of the result store. Heartbeats distinguish a dead worker from a large batch. */
export const bulk = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '1 hour',
  scheduleToCloseTimeout: '6 hours',
  heartbeatTimeout: '1 minute',
  retry,
});

/** Waits for other workflows for hours, on the task queue of follows, where it does not block short activities. */
export function waitProxies(taskQueue: string) {
  return proxyActivities<FollowActivities>({
    taskQueue,
    startToCloseTimeout: '30 days',
    heartbeatTimeout: '60 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry,
  });
}
