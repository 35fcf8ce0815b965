/** What a notification says, and where it is delivered. */
import type { NotifyTarget } from './job/job-input.js';

export interface Notification {
  /** Id of the message; the same for every delivery attempt. */
  readonly id: string;
  /**
   * `stop_failing`: a stop has not ended within its alert time. `stop_escalating`: a step of the escalation of a stop
   * begins, or was left. `data_expiring`: the service will soon delete the data
   * of protected sandboxes.
   */
  readonly event: 'ended' | 'blocked' | 'stop_failing' | 'stop_escalating' | 'data_expiring';
  /** Null for a stop or a cleanup, which belong to no job. */
  readonly jobId: string | null;
  readonly workflowId: string;
  /** `createThenPrompt`, `forkFanout`, `stopAndAwaitArchive` or `retentionCleanup`. */
  readonly workflowType: string;
  readonly sandboxId: string | null;
  /** The outcome with `ended`; null otherwise. */
  readonly outcome: string | null;
  readonly message: string | null;
  readonly at: string;
}

/** The input of the workflow that delivers a notification. */
export interface NotificationDelivery {
  readonly target: NotifyTarget;
  readonly notification: Notification;
}

/** The workflow that delivers a notification. */
export type DeliverNotification = (delivery: NotificationDelivery) => Promise<void>;
