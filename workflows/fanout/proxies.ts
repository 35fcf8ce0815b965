/** The activities that only batches need: one proxy per promise, each with the reason for its timeouts. */
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { FollowActivities, SandflowActivities } from '../../activities/index.js';

const retry = { initialInterval: '1 second', maximumInterval: '30 seconds' };

/** Questions to Temporal itself: a hundred describes at most. */
export const lookups = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '20 seconds',
  retry,
});

/** Reads or writes thousands of objects of the result store; beats tell a dead worker from a large batch. */
export const bulk = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '1 hour',
  scheduleToCloseTimeout: '6 hours',
  heartbeatTimeout: '1 minute',
  retry,
});

/** Waits for other workflows, for hours: on the task queue of follows, where it starves nobody. */
export function waitProxies(taskQueue: string) {
  return proxyActivities<FollowActivities>({
    taskQueue,
    startToCloseTimeout: '30 days',
    heartbeatTimeout: '60 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry,
  });
}
