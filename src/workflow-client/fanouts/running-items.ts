/** Finds the items of a batch that run, and asks one for its progress. */
import type { Client } from '@temporalio/client';
import { itemIndexOf, itemStep, itemWorkflowId, jobWorkflowId } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { progressQuery, workflowTypes } from '../../protocol/messages.js';
import { firstQueryTimeoutMs } from '../../temporal/calls.js';
import { queryOnce } from '../../temporal/query-once.js';
import { askWorkflow } from '../ask-workflow.js';
import type { FanoutAddress } from './fanout-client.js';

/** An item of a batch, by its place in the batch, from 0. */
export interface ItemAddress extends FanoutAddress {
  readonly index: number;
}

export interface RunningItem {
  readonly index: number;
  /** When its workflow started, as an ISO 8601 time. It may have continued as new. */
  readonly startedAt: string;
}

const listedAtOnce = 1_000;

/**
 * Lists the items that run, those that started first first, with one request for each 1,000 of them. Needs no worker.
 * Visibility lags: an item that started or ended a moment ago may be missing or listed.
 */
export async function runningItems(client: Client, { deployment, batchId }: FanoutAddress): Promise<RunningItem[]> {
  const prefix = `${jobWorkflowId(deployment, batchId)}/`;
  const query = `WorkflowType = '${workflowTypes.fanoutItem}' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '${prefix}'`;
  const found: RunningItem[] = [];
  for await (const { workflowId, startTime } of client.workflow.list({ query, pageSize: listedAtOnce })) {
    const index = itemIndexOf(workflowId);
    if (index !== undefined) found.push({ index, startedAt: startTime.toISOString() });
  }
  return found.sort((a, b) => a.startedAt.localeCompare(b.startedAt) || a.index - b.index);
}

/**
 * Queries the progress of an item while it runs, its id, null if it cannot be read, and Temporal's description: two
 * requests. Needs a worker.
 * @returns null if the item is not running
 * @throws SandflowError `no_worker`
 */
export async function lookAtItem(client: Client, { deployment, batchId, index }: ItemAddress) {
  const handle = client.workflow.getHandle(itemWorkflowId(deployment, batchId, index));
  const asked = { kind: 'job', deployment, id: `${batchId}/${itemStep(index)}` } as const;
  try {
    const described = await askWorkflow(client, asked, () => handle.describe());
    if (described.status.name !== 'RUNNING') return null;
    const progress = await askWorkflow(client, asked, () => queryOnce(handle, progressQuery), firstQueryTimeoutMs);
    return { itemId: (await described.staticSummary().catch(() => undefined)) ?? null, progress, described };
  } catch (error) {
    // It has not started, or it has ended since.
    if (error instanceof SandflowError && (error.code === 'job_not_found' || error.code === 'job_ended')) return null;
    throw error;
  }
}
