/** Reads the input of a workflow from its first event, so that no worker has to replay the workflow. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { type AskedWorkflow, askWorkflow } from './ask-workflow.js';

/** @returns undefined if Temporal no longer has the input */
export async function firstInput<Input>(
  client: Client,
  asked: AskedWorkflow,
  { workflowId, runId }: Pick<WorkflowExecutionDescription, 'workflowId' | 'runId'>,
): Promise<Input | undefined> {
  const { namespace, loadedDataConverter } = client.options;
  const { history } = await askWorkflow(client, asked, () =>
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
  return payload ? loadedDataConverter.payloadConverter.fromPayload<Input>(payload) : undefined;
}
