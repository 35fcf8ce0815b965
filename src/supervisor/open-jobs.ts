/** Counts what still runs, to know when a stack may end. */
import type { Client } from '@temporalio/client';
import { workflowTypes } from '../../workflows/messages.js';
import type { Config } from '../config.js';
import { jobWorkflowId, notificationPrefix } from '../contract/addresses.js';

const waitForDeliveriesMs = 600_000;

/**
 * Open workflows that this stack's worker works on. On a server of its own everything on the task queue counts; on a
 * shared one others may use the same queue, so there only the jobs of this deployment do. A notification that could not
 * be delivered for ten minutes holds nothing up: the server keeps it, and it is tried again when the stack is there again.
 * @param nowMs the present, in ms since the epoch. Default: now
 */
export async function countOpenJobs(
  client: Client,
  config: Pick<Config, 'taskQueue' | 'deployment' | 'temporal'>,
  nowMs = Date.now(),
): Promise<number> {
  const jobs = jobWorkflowId(config.deployment, '');
  const youngest = new Date(nowMs - waitForDeliveriesMs).toISOString();
  const conditions = [
    `ExecutionStatus = 'Running'`,
    `TaskQueue = '${config.taskQueue.replaceAll("'", "''")}'`,
    `(WorkflowType != '${workflowTypes.deliverNotification}' OR StartTime > '${youngest}')`,
  ];
  if (config.temporal.configured) {
    conditions.push(`(WorkflowId STARTS_WITH '${jobs}' OR WorkflowId STARTS_WITH '${notificationPrefix(jobs)}')`);
  }
  return (await client.workflow.count(conditions.join(' AND '))).count;
}
