/** Errors of Temporal's client, translated for users of a batch. */
import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { jobWorkflowId } from '../../contract/addresses.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { describeReadable } from '../readable-memos.js';
import { isClosing, isSlow } from '../stops/errors.js';
import type { FanoutAddress } from './client.js';

/** Converts an error of Temporal's client into one that says how to fix it; returns others unchanged. */
export async function explainFanoutError(error: unknown, client: Client, batch: FanoutAddress): Promise<unknown> {
  const { batchId } = batch;
  if (error instanceof WorkflowUpdateFailedError) {
    const why = error.cause?.message ?? error.message;
    return new SandflowError('refused', `The batch "${batchId}" refused: ${why}`, { cause: error });
  }
  if (error instanceof WorkflowNotFoundError || isClosing(error)) return missingOrEnded(error, client, batch);
  if (isSlow(error)) {
    const message = `The batch "${batchId}" did not answer in time: no worker takes its tasks. Start one with \`sandflow worker\`.`;
    return new SandflowError('no_worker', message, { cause: error });
  }
  return error;
}

/** Temporal says `not found` to both, with a text that is not to be relied on. */
async function missingOrEnded(cause: unknown, client: Client, batch: FanoutAddress): Promise<SandflowError> {
  try {
    await describeReadable(client, jobWorkflowId(batch.deployment, batch.batchId));
  } catch {
    return fanoutNotFound(batch, cause);
  }
  return fanoutEnded(batch, cause);
}

export function fanoutNotFound({ deployment, batchId }: FanoutAddress, cause?: unknown): SandflowError {
  const message = `There is no batch "${batchId}" in the deployment "${deployment}". \`sandflow fanout list\` shows those that there are.`;
  return new SandflowError('fanout_not_found', message, { cause });
}

/** The batch is there and takes nothing any more. */
export function fanoutEnded({ batchId }: FanoutAddress, cause?: unknown): SandflowError {
  const message = `The batch "${batchId}" has ended. \`sandflow fanout show ${batchId}\` shows its result, \`sandflow fanout resume ${batchId}\` goes on with it.`;
  return new SandflowError('fanout_ended', message, { cause });
}

/** The id belongs to a job. */
export function notAFanout({ batchId }: FanoutAddress): SandflowError {
  return new SandflowError('not_a_fanout', `"${batchId}" is the id of a job, not of a batch. Choose another one.`);
}
