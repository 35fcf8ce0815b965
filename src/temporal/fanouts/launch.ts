/** Starts an execution of a batch, its first or a later one. Temporal itself decides who starts it. */
import { type Client, WorkflowIdConflictPolicy, type WorkflowIdReusePolicy } from '@temporalio/client';
import type { BatchInput } from '../../../workflows/fanout/protocol.js';
import { workflowTypes } from '../../../workflows/messages.js';
import { jobWorkflowId } from '../../contract/addresses.js';
import type { FanoutMemo, StartedFanout, StartFanoutOptions } from './client.js';

export interface LaunchBatchOptions extends StartFanoutOptions {
  readonly memo: FanoutMemo;
  readonly workflowIdReusePolicy: WorkflowIdReusePolicy;
}

/** @throws WorkflowExecutionAlreadyStartedError where one runs, or the policy does not let its id be used again */
export async function launchBatch(
  client: Client,
  input: BatchInput,
  { taskQueue, memo, workflowIdReusePolicy }: LaunchBatchOptions,
): Promise<StartedFanout> {
  const handle = await client.workflow.start<(input: BatchInput) => Promise<unknown>>(workflowTypes.forkFanout, {
    workflowId: jobWorkflowId(input.deployment, input.batchId),
    taskQueue,
    args: [input],
    workflowIdReusePolicy,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    memo: { ...memo },
    staticSummary: input.title ?? input.batchId,
  });
  return { started: true, runId: handle.firstExecutionRunId };
}
