/** Reads the input of a workflow from its first event, so that no worker has to replay the workflow. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { readPayloads } from '../temporal/read-payloads.js';
import { type AskedWorkflow, askWorkflow } from './ask-workflow.js';

type Execution = Pick<WorkflowExecutionDescription, 'workflowId' | 'runId'>;

/** @returns undefined if Temporal no longer has the input */
export async function firstInput<Input>(
  client: Client,
  asked: AskedWorkflow,
  execution: Execution,
): Promise<Input | undefined> {
  return askWorkflow(client, asked, () => readInput<Input>(client, execution));
}

/** As `firstInput`, for any workflow. @throws what Temporal answers, and the error of a codec */
export async function readInput<Input>(client: Client, { workflowId, runId }: Execution): Promise<Input | undefined> {
  const { namespace } = client.options;
  const execution = { workflowId, runId };
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution,
    maximumPageSize: 1,
  });
  const input = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input;
  return (await readPayloads(client, input?.payloads))[0] as Input | undefined;
}
