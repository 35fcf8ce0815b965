/**
 * Reads of the service and of the result store. They are short and safe to repeat.
 *
 * They are ordinary activities, although local ones would cost fewer events. A workflow task may end while a local
 * activity still runs, because the task takes long or answers a query. If other messages arrive before the next task, a
 * replay delivers the result together with these messages. The code of the workflow then runs in another order than
 * before. Such a workflow never continues, and its queries fail (decision 0035).
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

/**
 * The client gives a call up after 30 s. During a longer outage, `retryRefusals` waits, and Temporal's UI shows this
 * wait.
 */
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
 * All reads. If the scope that waits for a read is cancelled, the read is not cancelled: see `abandonOnCancel`.
 * Failures reach the workflow directly, not wrapped in an `ActivityFailure`.
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
