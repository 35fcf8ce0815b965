/** Queries a workflow, also if it ended before a task processed its last events. */
import type { WorkflowHandle } from '@temporalio/client';
import type { QueryDefinition } from '@temporalio/common';
import type { QueryOptions } from '../protocol/early-query.js';
import { isEarlyQuery } from './errors.js';

/**
 * Queries a workflow once.
 * @throws what `handle.query` throws. While the workflow runs, a worker refuses a query that comes before the task for
 *   the latest events: `withAnswerTimeout` repeats such a query
 */
export async function queryOnce<T>(
  handle: Pick<WorkflowHandle, 'workflowId' | 'query' | 'client'>,
  query: QueryDefinition<T, [QueryOptions?]>,
): Promise<T> {
  try {
    return await handle.query(query);
  } catch (error) {
    if (!isEarlyQuery(error)) throw error;
    const { client, workflowId } = handle;
    // The description is read without its memo, which may not be decodable.
    const { workflowExecutionInfo: info } = await client.workflowService.describeWorkflowExecution({
      namespace: client.options.namespace,
      execution: { workflowId },
    });
    const runId = info?.execution?.runId;
    if (!runId || !info.closeTime) throw error;
    return client.getHandle(workflowId, runId).query(query, { ofClosedRun: runId });
  }
}
