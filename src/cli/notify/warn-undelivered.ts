/**
 * After the answer, lists the notifications of a job that have not been delivered. The answer does not wait for them.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { jobWorkflowId, notificationPrefix } from '../../addresses/addresses.js';
import { workflowTypes } from '../../protocol/messages.js';
import { chainStart } from '../../temporal/chain-start.js';
import { describeJob, type JobAddress } from '../../workflow-client/jobs/job-client.js';
import type { Platform } from '../connect/platform.js';
import { oneLine } from '../output/terminal-safe.js';
import { targetText } from './notify-target.js';

const withinMs = 4_000;

/** Never throws, because the job has ended independent of its notification. */
export async function warnUndelivered(
  { temporal }: Pick<Platform, 'temporal'>,
  job: JobAddress,
  { target, warn }: { readonly target: string; readonly warn: (text: string) => void },
): Promise<void> {
  try {
    const since = chainStart(await describeJob(temporal, job));
    const workflowId = jobWorkflowId(job.deployment, job.jobId);
    const undelivered = await undeliveredNotifications(temporal, workflowId, since);
    const [first] = undelivered;
    if (!first) return;
    const why = first.lastError === null ? '' : `: ${oneLine(first.lastError).replace(/\.$/, '')}`;
    const next = first.isAbandoned ? 'It is not repeated.' : 'It is repeated for a day while a worker runs.';
    warn(`The notification to ${targetText(target)} is not delivered${why}. ${next}`);
  } catch {
    // Temporal cannot be reached. The delivery continues when it can be reached again.
  }
}

/** Temporal's lists lag. A job that notifies has started at least one delivery when it ends. */
const lagMs = 2_000;
const pauseMs = 200;

interface Undelivered {
  /** True if the delivery was given up. */
  readonly isAbandoned: boolean;
  /** Why the last attempt failed; null if none has failed yet. */
  readonly lastError: string | null;
}

/**
 * Waits until the deliveries of an execution of a job have ended, for at most `withinMs`.
 * @param since start of the execution: deliveries of earlier executions do not count
 * @returns those that were not delivered by then
 */
async function undeliveredNotifications(client: Client, workflowId: string, since: Date): Promise<Undelivered[]> {
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
