/** What is open on the Temporal server of a stack: jobs, and notifications that are not delivered. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { jobWorkflowId, notificationPrefix } from '../addresses/addresses.js';
import { schedulePrefix } from '../addresses/schedule-addresses.js';
import type { Config } from '../config.js';
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
  const prefix = jobWorkflowId(work.deployment, '');
  const idOf = ({ workflowId }: WorkflowExecutionInfo) => {
    if (!workflowId.startsWith(prefix)) return workflowId;
    const id = workflowId.slice(prefix.length);
    return id.includes('/') ? undefined : id;
  };
  const { count, some } = await countAndSome(client, openQuery(work, isNoDelivery), idOf);
  return { openJobs: count, openIds: some };
}

/** Counts the notifications that are not delivered, and describes some of them. */
export async function openDeliveries(
  client: Client,
  work: WorkOfStack,
): Promise<{ readonly undeliveredCount: number; readonly undelivered: OpenDelivery[] }> {
  const { count, some } = await countAndSome(client, openQuery(work, isDelivery), (delivery) => delivery);
  const undelivered = await Promise.all(some.map((delivery) => describeDelivery(client, delivery)));
  return { undeliveredCount: count, undelivered };
}

/** Counts the schedules of the deployment that are not paused, and names some of them. */
export async function activeSchedules(
  client: Client,
  { deployment }: Pick<Config, 'deployment'>,
): Promise<{ readonly activeSchedules: number; readonly scheduleNames: string[] }> {
  const prefix = schedulePrefix(deployment);
  const names: string[] = [];
  for await (const { scheduleId, state } of lenientClient(client).schedule.list()) {
    if (scheduleId.startsWith(prefix) && !state.paused) names.push(scheduleId.slice(prefix.length));
  }
  return { activeSchedules: names.length, scheduleNames: names.sort().slice(0, namedAtMost) };
}

/** Counts the workflows of a query, and takes from some of them what is to be shown: nothing if it is undefined. */
async function countAndSome<Shown>(
  client: Client,
  query: string,
  shownOf: (workflow: WorkflowExecutionInfo) => Shown | undefined,
): Promise<{ readonly count: number; readonly some: Shown[] }> {
  const { count } = await client.workflow.count(query);
  const some: Shown[] = [];
  if (count === 0) return { count, some };
  let listed = 0;
  for await (const workflow of lenientClient(client).workflow.list({ query })) {
    listed += 1;
    const shown = shownOf(workflow);
    if (shown !== undefined) some.push(shown);
    if (some.length === namedAtMost || listed === listedAtMost) break;
  }
  return { count, some };
}

/**
 * The open workflows that the worker of a stack works on. On the embedded server everything on the task queue counts.
 * On a configured server others may use the same queue, so only the jobs of this deployment and their notifications
 * count.
 */
function openQuery({ taskQueue, deployment, temporal }: WorkOfStack, condition: string): string {
  const jobs = jobWorkflowId(deployment, '');
  const conditions = [
    `ExecutionStatus = 'Running'`,
    `TaskQueue = '${taskQueue.replaceAll("'", "''")}'`,
    // It only waits for jobs.
    `WorkflowType != '${workflowTypes.promptFollower}'`,
    condition,
  ];
  if (temporal.configured) {
    conditions.push(`(WorkflowId STARTS_WITH '${jobs}' OR WorkflowId STARTS_WITH '${notificationPrefix(jobs)}')`);
  }
  return conditions.join(' AND ');
}
