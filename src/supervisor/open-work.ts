/** What is open on the Temporal server of a stack: jobs, and notifications that are not delivered. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { Config } from '../config.js';
import { jobWorkflowId, notificationPrefix } from '../contract/workflow-safe/addresses.js';
import { workflowTypes } from '../protocol/messages.js';
import { lenientClient } from '../temporal/readable-memos.js';
import { describeDelivery, type OpenDelivery } from '../workflow-client/open-deliveries.js';

type WorkOfStack = Pick<Config, 'taskQueue' | 'deployment' | 'temporal'>;

const waitForDeliveriesMs = 600_000;
const listedAtMost = 100;
const namedAtMost = 5;

const isDelivery = `WorkflowType = '${workflowTypes.deliverNotification}'`;
const isNoDelivery = `WorkflowType != '${workflowTypes.deliverNotification}'`;

/**
 * Counts the open workflows for which a stack stays up. A notification that could not be delivered for ten minutes is
 * not among them. The server keeps it, and the next stack tries again.
 * @param nowMs the present, in ms since the epoch. Default: now
 */
export async function countOpenWork(client: Client, work: WorkOfStack, nowMs = Date.now()): Promise<number> {
  const youngest = new Date(nowMs - waitForDeliveriesMs).toISOString();
  return (await client.workflow.count(openQuery(work, `(${isNoDelivery} OR StartTime > '${youngest}')`))).count;
}

/** Counts the open workflows without notifications, and names some of the jobs and batches, without parts of batches. */
export async function openJobs(
  client: Client,
  work: WorkOfStack,
): Promise<{ readonly openJobs: number; readonly openIds: string[] }> {
  const query = openQuery(work, isNoDelivery);
  const { count } = await client.workflow.count(query);
  const prefix = jobWorkflowId(work.deployment, '');
  const openIds: string[] = [];
  if (count === 0) return { openJobs: count, openIds };
  let listed = 0;
  for await (const { workflowId } of lenientClient(client).workflow.list({ query })) {
    listed += 1;
    const id = workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : workflowId;
    if (!workflowId.startsWith(prefix) || !id.includes('/')) openIds.push(id);
    if (openIds.length === namedAtMost || listed === listedAtMost) break;
  }
  return { openJobs: count, openIds };
}

/** Counts the notifications that are not delivered, and describes some of them. */
export async function openDeliveries(
  client: Client,
  work: WorkOfStack,
): Promise<{ readonly undeliveredCount: number; readonly undelivered: OpenDelivery[] }> {
  const query = openQuery(work, isDelivery);
  const { count } = await client.workflow.count(query);
  if (count === 0) return { undeliveredCount: 0, undelivered: [] };
  const named: WorkflowExecutionInfo[] = [];
  for await (const delivery of lenientClient(client).workflow.list({ query })) {
    named.push(delivery);
    if (named.length === namedAtMost) break;
  }
  const undelivered = await Promise.all(named.map((delivery) => describeDelivery(client, delivery)));
  return { undeliveredCount: count, undelivered };
}

/**
 * The open workflows that the worker of a stack works on. On the embedded server everything on the task queue counts.
 * On a configured server others may use the same queue, so only the jobs of this deployment and their notifications
 * count.
 */
function openQuery({ taskQueue, deployment, temporal }: WorkOfStack, condition: string): string {
  const jobs = jobWorkflowId(deployment, '');
  const conditions = [`ExecutionStatus = 'Running'`, `TaskQueue = '${taskQueue.replaceAll("'", "''")}'`, condition];
  if (temporal.configured) {
    conditions.push(`(WorkflowId STARTS_WITH '${jobs}' OR WorkflowId STARTS_WITH '${notificationPrefix(jobs)}')`);
  }
  return conditions.join(' AND ');
}
