/** Describes notifications that are still to be delivered. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { notificationPrefix } from '../addresses/addresses.js';
import type { NotificationDelivery } from '../protocol/notification.js';
import { isoTime } from '../temporal/iso-time.js';
import { lenientClient } from '../temporal/readable-memos.js';
import { readInput } from './first-input.js';

/** A notification that has not been delivered and is not given up. */
export interface OpenDelivery {
  /** Id of the workflow that notifies, such as that of a job. */
  readonly workflowId: string;
  /** `ended`, for example; null if this client cannot read the notification, because it is encrypted. */
  readonly event: string | null;
  /** The origin of its URL, whose path may be a secret. Null as `event` is. */
  readonly target: string | null;
  /** When the first attempt was due, as an ISO 8601 time. */
  readonly since: string;
  /** When it is given up, as an ISO 8601 time; null if no worker has taken it up. */
  readonly until: string | null;
  /** Why the last attempt failed; null if none has failed yet. */
  readonly lastError: string | null;
}

/** @throws what Temporal answers, for example if the delivery is gone */
export async function describeDelivery(
  client: Client,
  { workflowId, runId, startTime }: Pick<WorkflowExecutionInfo, 'workflowId' | 'runId' | 'startTime'>,
): Promise<OpenDelivery> {
  const { raw } = await lenientClient(client).workflow.getHandle(workflowId, runId).describe();
  const input = await readInput<NotificationDelivery>(client, { workflowId, runId }).catch(() => undefined);
  const [pending] = (raw.pendingActivities ?? []).toSorted((one) => (one.lastFailure ? -1 : 1));
  return {
    workflowId: workflowId.slice(notificationPrefix('').length, workflowId.lastIndexOf('/')),
    event: input?.notification?.event ?? null,
    target: input?.target ? targetOf(input.target) : null,
    since: startTime.toISOString(),
    until: isoTime(pending?.expirationTime),
    lastError: pending?.lastFailure?.message ?? null,
  };
}

function targetOf({ url }: NotificationDelivery['target']): string {
  return URL.canParse(url) ? new URL(url).origin : 'a URL that is not valid';
}
