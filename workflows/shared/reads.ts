/**
 * Reads of the service and of the result store. They are short and safe to repeat.
 *
 * They are ordinary activities, although local ones would cost fewer events. A workflow task may end while a local
 * activity still runs, because the task takes long or answers a query. If other messages arrive before the next task, a
 * replay delivers the result together with these messages. The code of the workflow then runs in another order than
 * before. Such a workflow never continues, and its queries fail (decision 0035).
 */
import { ActivityFailure, CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { ReadActivities } from '../../activities/activity-kinds.js';

/**
 * The client gives a call up after 30 s. During a longer outage, `retryRefusals` waits, and Temporal's UI shows this
 * wait.
 */
const activities = proxyActivities<ReadActivities>({
  startToCloseTimeout: '45 seconds',
  retry: { initialInterval: '500 milliseconds', maximumAttempts: 3 },
  heartbeatTimeout: '15 seconds',
});

type Read = (...args: unknown[]) => Promise<unknown>;

/**
 * All reads. A workflow that is cancelled does not wait for its reads, and does not cancel them either: if an activity
 * fails after its workflow has abandoned it, the workflow never continues ("ActivityMachine in state Canceled"). Failures
 * reach the workflow directly, not wrapped in an `ActivityFailure`.
 */
export const reads: ReadActivities = new Proxy({} as ReadActivities, {
  get:
    (_, name: keyof ReadActivities) =>
    async (...args: unknown[]) => {
      const scope = CancellationScope.current();
      const reading = CancellationScope.nonCancellable(() => (activities[name] as Read)(...args));
      try {
        // A scope that is not cancellable is told of a cancel, too.
        return await (scope.cancellable ? Promise.race([reading, scope.cancelRequested]) : reading);
      } catch (error) {
        throw error instanceof ActivityFailure && error.cause ? error.cause : error;
      }
    },
});
