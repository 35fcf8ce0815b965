/** Lists the batches of a deployment from Temporal's visibility. */
import type { Client } from '@temporalio/client';
import { workflowTypes } from '../../../workflows/messages.js';
import { deploymentProblem, jobIdOfWorkflow, jobWorkflowId } from '../../contract/addresses.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { lenientClient, memoOf, type UnreadableMemo } from '../readable-memos.js';

/** A batch in a list. */
export interface FanoutSummary {
  /** Id of the batch. */
  readonly batchId: string;
  /** `running`, or how the workflow ended. A batch that has a named outcome is `completed`, whatever the outcome. */
  readonly status: string;
  /** ISO 8601 time. */
  readonly startedAt: string;
  /** ISO 8601 time; null while the batch runs. */
  readonly endedAt: string | null;
  /** The title of the batch; null if it has none or if it cannot be read. */
  readonly title: string | null;
  /** Why the memo cannot be read, such as a missing key; null if it can. */
  readonly unreadable: UnreadableMemo | null;
}

/** Options of `listFanouts`. */
export interface ListFanoutsOptions {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Lists only running ones. Default: false. */
  readonly open?: boolean;
  /** Maximum number of entries, newest first. Default: 50. */
  readonly limit?: number;
}

/**
 * The newest batches first, each once, by its newest execution. Visibility lags: one that was started a moment ago may
 * be missing.
 * @throws SandflowError `bad_configuration`
 */
export async function listFanouts(client: Client, options: ListFanoutsOptions): Promise<FanoutSummary[]> {
  const { deployment, open = false, limit = 50 } = options;
  const problem = deploymentProblem(deployment);
  if (problem) throw new SandflowError('bad_configuration', `SANDFLOW_DEPLOYMENT: ${problem}.`);
  const conditions = [
    `WorkflowType = '${workflowTypes.forkFanout}'`,
    `WorkflowId STARTS_WITH '${jobWorkflowId(deployment, '')}'`,
    // A run that went on as a new one is not the batch's end.
    open ? `ExecutionStatus = 'Running'` : `ExecutionStatus != 'ContinuedAsNew'`,
  ];
  const batches = new Map<string, FanoutSummary>();
  for await (const execution of lenientClient(client).workflow.list({ query: conditions.join(' AND ') })) {
    const batchId = jobIdOfWorkflow(deployment, execution.workflowId);
    if (batchId === undefined || batches.has(batchId)) continue;
    const { memo, unreadable } = memoOf(execution.memo);
    const { title } = memo;
    batches.set(batchId, {
      batchId,
      status: execution.status.name.toLowerCase(),
      startedAt: execution.startTime.toISOString(),
      endedAt: execution.closeTime?.toISOString() ?? null,
      title: typeof title === 'string' ? title : null,
      unreadable,
    });
    if (batches.size >= limit) break;
  }
  return [...batches.values()];
}
