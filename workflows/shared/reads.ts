/**
 * Reads of the service and of the result store. They are short and safe to repeat.
 *
 * They are ordinary activities, although local ones would cost fewer events. A workflow task that answers a query, or that
 * takes long, ends while a local activity is still under way. If other messages arrive by the next task, a replay
 * delivers the result together with them. The workflow's code then continues in another order than it did. Such a
 * workflow never continues, and its queries fail: see decision 0035.
 */
import {
  ActivityCancellationType,
  ActivityFailure,
  patched,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { SandflowActivities } from '../../activities/index.js';
import { abandonOnCancel } from './abandon-on-cancel.js';

/** The client abandons a call after 30 s. During a longer outage, `retryRefusals` waits visibly. */
const options = {
  startToCloseTimeout: '45 seconds',
  retry: { initialInterval: '500 milliseconds', maximumAttempts: 3 },
} as const;

const ordinaryReads = proxyActivities<SandflowActivities>({
  ...options,
  heartbeatTimeout: '15 seconds',
  cancellationType: ActivityCancellationType.ABANDON,
});
/** Only for runs that made local reads before. */
const localReads = proxyLocalActivities<SandflowActivities>(options);

type Read = (...args: unknown[]) => Promise<unknown>;

/**
 * Reads that are abandoned, not cancelled, if the scope that waits for them is cancelled: see `abandonOnCancel`. Their
 * failures reach the workflow directly, not wrapped in an `ActivityFailure`.
 */
export const reads: SandflowActivities = new Proxy({} as SandflowActivities, {
  get:
    (_, name: keyof SandflowActivities) =>
    (...args: unknown[]) =>
      abandonOnCancel(() => read(name, args)),
});

async function read(name: keyof SandflowActivities, args: unknown[]): Promise<unknown> {
  if (!patched('reads are ordinary activities')) return (localReads[name] as Read)(...args);
  try {
    return await (ordinaryReads[name] as Read)(...args);
  } catch (error) {
    throw error instanceof ActivityFailure && error.cause ? error.cause : error;
  }
}
