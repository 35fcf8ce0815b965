/** Reads what the newest execution of a batch was started with. */
import type { Client } from '@temporalio/client';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { BatchInput } from '../../protocol/fanout/batch-parts.js';
import { firstInput } from '../first-input.js';
import { askedBatch, describeFanout, type FanoutAddress, type FanoutMemo } from './fanout-client.js';

/** @throws SandflowError `fanout_not_found` */
export async function earlierExecution(client: Client, batch: FanoutAddress) {
  const there = await describeFanout(client, batch);
  const input = await firstInput<BatchInput>(client, askedBatch(batch), there);
  if (!input) {
    throw new SandflowError('fanout_not_found', `Temporal no longer has the input of the batch "${batch.batchId}".`);
  }
  // The run id of the first execution of the batch.
  const batchKey = input.batchKey ?? (there.raw.workflowExecutionInfo?.firstRunId || there.runId);
  const memo = there.memo as unknown as FanoutMemo;
  return { input, batchKey, memo, isRunning: there.status.name === 'RUNNING', runId: there.runId };
}

export function stillRuns({ batchId }: FanoutAddress, cause?: unknown): SandflowError {
  const message = `The batch "${batchId}" is still running, so there is nothing to resume. \`sandflow fanout watch ${batchId}\` shows its progress.`;
  return new SandflowError('fanout_runs', message, { cause });
}

export function heldSoUnchanged({ batchId }: FanoutAddress): SandflowError {
  const message = `The batch "${batchId}" is held and still runs, so nothing of it can be changed. \`sandflow fanout resume ${batchId}\` without options lets it go on; or cancel it, and resume it with changes when it has ended.`;
  return new SandflowError('fanout_runs', message);
}
