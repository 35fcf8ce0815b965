/** Asks an item of a batch for its progress. */
import type { Client } from '@temporalio/client';
import type { JobProgress } from '../../../workflows/job/progress.js';
import { progressQuery } from '../../../workflows/messages.js';
import { itemStep, itemWorkflowId } from '../../contract/addresses.js';
import { SandflowError } from '../../contract/errors/sandflow-error.js';
import { askWorkflow } from '../ask-workflow.js';
import { firstQueryTimeoutMs } from '../calls.js';
import { queryOnce } from '../query-once.js';

/** An item of a batch, by its place in the batch, from 0. */
export interface ItemAddress {
  readonly deployment: string;
  readonly batchId: string;
  readonly index: number;
}

/**
 * Queries the progress of an item while it runs. Needs a worker.
 * @returns null if the item is not running
 * @throws SandflowError `no_worker`
 */
export async function itemProgress(
  client: Client,
  { deployment, batchId, index }: ItemAddress,
): Promise<JobProgress | null> {
  const handle = client.workflow.getHandle(itemWorkflowId(deployment, batchId, index));
  const asked = { kind: 'job', deployment, id: `${batchId}/${itemStep(index)}` } as const;
  try {
    const { status } = await askWorkflow(client, asked, () => handle.describe());
    if (status.name !== 'RUNNING') return null;
    return await askWorkflow(client, asked, () => queryOnce(handle, progressQuery), firstQueryTimeoutMs);
  } catch (error) {
    // It has not started, or it has ended since.
    if (error instanceof SandflowError && (error.code === 'job_not_found' || error.code === 'job_ended')) return null;
    throw error;
  }
}
