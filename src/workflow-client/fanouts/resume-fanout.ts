/** Resumes a batch whose workflow has closed. */

import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import { requireOptions } from '../../contract/required-options.js';
import { SandflowError } from '../../contract/workflow-safe/sandflow-error.js';
import type { BatchInput } from '../../protocol/fanout/batch-parts.js';
import type { FanoutPolicy, FanoutSource } from '../../protocol/fanout/fanout-input.js';
import { requireClient } from '../../temporal/own-copy.js';
import { firstInput } from '../first-input.js';
import {
  askedBatch,
  describeFanout,
  type FanoutAddress,
  type FanoutMemo,
  launchBatch,
  type StartedFanout,
} from './fanout-client.js';
import { parseFanoutInput } from './fanout-input.js';

/** Options of resuming a batch. */
export interface ResumeFanoutOptions {
  /** Task queue of the workers that run jobs. */
  readonly taskQueue: string;
  /** Whether items that failed are tried again, each as its next generation. Default: true. */
  readonly retryFailed?: boolean;
  /** Replaces parts of the policy, such as the budget or the deadline. Default: the policy does not change. */
  readonly policy?: Partial<FanoutPolicy>;
}

/**
 * Runs the missing and failed items of a batch. Completed items are not repeated. Idempotency keys and the spent budget
 * carry over from the first execution. The deadline starts again. Chunks that still run continue.
 * @throws SandflowError `fanout_runs` if the batch still runs; `fanout_not_found`; `bad_fanout_input`
 * @example
 * await resumeFanout(client, { deployment, batchId: 'issues' }, { taskQueue });
 * const { counts } = await awaitFanout(client, { deployment, batchId: 'issues' });
 */
export async function resumeFanout(
  client: Client,
  batch: FanoutAddress,
  options: ResumeFanoutOptions,
): Promise<StartedFanout> {
  requireClient(client);
  requireOptions(options, { taskQueue: 'a text' });
  const { taskQueue, retryFailed = true, policy = {} } = options;
  const there = await describeFanout(client, batch);
  if (there.status.name === 'RUNNING') throw stillRuns(batch);
  const { carried: _, resume, batchKey: known, ...earlier } = await inputOf(client, batch, there);
  const batchKey = known ?? (there.raw.workflowExecutionInfo?.firstRunId || there.runId);
  const input: BatchInput = {
    ...parseFanoutInput({ ...earlier, policy: { ...earlier.policy, ...policy } }),
    batchKey,
    resume: { round: (resume?.round ?? 0) + 1, retryFailed },
  };
  const { shortfall: __, ...kept } = (there.memo ?? {}) as Partial<FanoutMemo>;
  const memo = { ...kept, batchKey, outcome: null } as FanoutMemo;
  try {
    const workflowIdReusePolicy = WorkflowIdReusePolicy.ALLOW_DUPLICATE;
    return await launchBatch(client, input, { taskQueue, memo, workflowIdReusePolicy });
  } catch (error) {
    throw error instanceof WorkflowExecutionAlreadyStartedError ? stillRuns(batch, error) : error;
  }
}

/**
 * Reads the source of a batch.
 * @throws SandflowError `fanout_not_found`
 */
export async function sourceOfBatch(client: Client, batch: FanoutAddress): Promise<FanoutSource> {
  return (await inputOf(client, batch, await describeFanout(client, batch))).source;
}

async function inputOf(client: Client, batch: FanoutAddress, there: WorkflowExecutionDescription): Promise<BatchInput> {
  const input = await firstInput<BatchInput>(client, askedBatch(batch), there);
  if (input) return input;
  throw new SandflowError('fanout_not_found', `Temporal no longer has the input of the batch "${batch.batchId}".`);
}

function stillRuns({ batchId }: FanoutAddress, cause?: unknown): SandflowError {
  const message = `The batch "${batchId}" is still running, so there is nothing to resume. \`sandflow fanout watch ${batchId}\` shows its progress.`;
  return new SandflowError('fanout_runs', message, { cause });
}
