/** Resumes a batch whose workflow has closed. */
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import type { BatchInput } from '../../../workflows/fanout/protocol.js';
import type { FanoutPolicy } from '../../../workflows/fanout/types.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { answered, describeFanout, type FanoutAddress, type FanoutMemo, type StartedFanout } from './client.js';
import { parseFanoutInput } from './input.js';
import { launchBatch } from './launch.js';

/** Options of resuming a batch. */
export interface ResumeFanoutOptions {
  /** Task queue of the workers that run jobs. */
  readonly taskQueue: string;
  /** Whether items that failed are tried again, each as its next generation. Default: true. */
  readonly retryFailed?: boolean;
  /** Replaces parts of the policy: a larger budget, a later deadline. Default: as it was. */
  readonly policy?: Partial<FanoutPolicy>;
}

/**
 * Tops up what is missing or failed, and repeats nothing that is done: the keys of the first execution count on, and so
 * does what it has spent. Its deadline begins anew. Chunks that still run are taken up where they are.
 * @throws SandflowError `fanout_runs` if it has not closed; `fanout_not_found`; `bad_fanout_input`
 */
export async function resumeFanout(
  client: Client,
  batch: FanoutAddress,
  { taskQueue, retryFailed = true, policy = {} }: ResumeFanoutOptions,
): Promise<StartedFanout> {
  const there = await describeFanout(client, batch);
  if (there.status.name === 'RUNNING') throw stillRuns(batch);
  const { carried: _, resume, batchKey: known, ...earlier } = await inputOf(client, batch, there);
  const batchKey = known ?? firstRunIdOf(there);
  const input: BatchInput = {
    ...parseFanoutInput({ ...earlier, policy: { ...earlier.policy, ...policy } }),
    batchKey,
    resume: { round: (resume?.round ?? 0) + 1, retryFailed },
  };
  const memo = { ...there.memo, batchKey } as FanoutMemo;
  try {
    const workflowIdReusePolicy = WorkflowIdReusePolicy.ALLOW_DUPLICATE;
    return await launchBatch(client, input, { taskQueue, memo, workflowIdReusePolicy });
  } catch (error) {
    throw error instanceof WorkflowExecutionAlreadyStartedError ? stillRuns(batch, error) : error;
  }
}

/** The input of the newest run, as it was started: also where no worker could replay it any more. */
async function inputOf(
  client: Client,
  batch: FanoutAddress,
  { workflowId, runId }: WorkflowExecutionDescription,
): Promise<BatchInput> {
  const { namespace, loadedDataConverter } = client.options;
  const { history } = await answered(client, batch, () =>
    client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    }),
  );
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  let decoded = payloads;
  for (const codec of loadedDataConverter.payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
  const [payload] = decoded;
  if (payload) return loadedDataConverter.payloadConverter.fromPayload<BatchInput>(payload);
  throw new SandflowError('fanout_not_found', `Temporal has no input of the batch "${batch.batchId}" any more.`);
}

function firstRunIdOf({ raw, runId }: WorkflowExecutionDescription): string {
  return raw.workflowExecutionInfo?.firstRunId || runId;
}

function stillRuns({ batchId }: FanoutAddress, cause?: unknown): SandflowError {
  const message = `The batch "${batchId}" still runs, so there is nothing to resume. \`sandflow fanout watch ${batchId}\` shows it.`;
  return new SandflowError('fanout_runs', message, { cause });
}
