/** Finds notifications of a job that have not been delivered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { notificationPrefix } from '../../addresses/addresses.js';
import { workflowTypes } from '../../protocol/messages.js';

/** Temporal's lists lag. A job that notifies has started at least one delivery when it ends. */
const lagMs = 2_000;
const pauseMs = 200;

/** A notification that has not been delivered. */
export interface Undelivered {
  /** True if the delivery was given up. */
  readonly isAbandoned: boolean;
  /** Why the last attempt failed; null if none has failed yet. */
  readonly lastError: string | null;
}

/**
 * Waits until the deliveries of an execution of a job have ended, for at most `withinMs`.
 * @param options.since start of the execution: deliveries of earlier executions do not count
 * @returns those that were not delivered by then
 */
export async function undeliveredNotifications(
  client: Client,
  workflowId: string,
  { since, withinMs }: { readonly since: Date; readonly withinMs: number },
): Promise<Undelivered[]> {
  const query = [
    `WorkflowType = '${workflowTypes.deliverNotification}'`,
    `WorkflowId STARTS_WITH '${notificationPrefix(workflowId)}/'`,
    `StartTime >= '${since.toISOString()}'`,
  ].join(' AND ');
  const beganMs = Date.now();
  for (;;) {
    const open: string[] = [];
    const failed: Undelivered[] = [];
    let found = 0;
    for await (const delivery of client.workflow.list({ query })) {
      found += 1;
      if (delivery.status.name === 'RUNNING') open.push(delivery.workflowId);
      else if (delivery.status.name !== 'COMPLETED') failed.push({ isAbandoned: true, lastError: null });
    }
    const passedMs = Date.now() - beganMs;
    const isSettled = open.length === 0 && (found > 0 || passedMs >= lagMs);
    if (isSettled || passedMs >= withinMs) {
      return [...failed, ...(await Promise.all(open.map((id) => stateOf(client, id))))];
    }
    await sleep(pauseMs);
  }
}

async function stateOf(client: Client, workflowId: string): Promise<Undelivered> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const failures = (raw.pendingActivities ?? []).flatMap(({ lastFailure }) => lastFailure?.message ?? []);
  return { isAbandoned: false, lastError: failures[0] ?? null };
}
