/** The request to stop that a job, a batch or a cleanup hands over. Pure. */
import { type Escalation, lastStepMs, timeForLastStepMs } from './escalation.js';
import type { NotifyTarget } from './job/job-input.js';
import type { StopRequest } from './stop.js';

interface HandedOver {
  /** The same for every repetition of the request. */
  readonly requestId: string;
  readonly escalate: Escalation;
  readonly notify?: NotifyTarget | null | undefined;
}

const longestId = 200;

/** A request that waits until its last step had its time. */
export function escalatingRequest({ requestId, escalate, notify }: HandedOver): StopRequest {
  return {
    requestId: requestId.slice(-longestId),
    deadlineMs: lastStepMs(escalate) + timeForLastStepMs,
    alertAfterMs: null,
    escalate,
    ...(notify && { notify }),
  };
}
