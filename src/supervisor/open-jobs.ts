/** Counts what still runs, to know when a stack may end. */
import type { Client } from '@temporalio/client';
import type { Config } from '../config.js';

/**
 * Open workflows that this stack's worker works on. On a server of its own everything on the task queue counts; on a
 * shared one others may use the same queue, so there only the jobs of this deployment do.
 */
export async function countOpenJobs(
  client: Client,
  config: Pick<Config, 'taskQueue' | 'deployment' | 'temporal'>,
): Promise<number> {
  const own = config.temporal.configured ? ` AND WorkflowId STARTS_WITH 'sf-${config.deployment}-'` : '';
  const query = `ExecutionStatus = 'Running' AND TaskQueue = '${config.taskQueue.replaceAll("'", "''")}'${own}`;
  return (await client.workflow.count(query)).count;
}
