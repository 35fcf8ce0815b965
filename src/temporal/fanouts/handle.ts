/** A batch as a workflow. */
import type { Client } from '@temporalio/client';
import { jobIdProblem, jobWorkflowId } from '../../contract/addresses.js';
import type { FanoutAddress } from './client.js';
import { bad } from './input.js';

/** A handle on the newest run of a batch. Sends no request. */
export function fanoutHandle(client: Client, { deployment, batchId }: FanoutAddress) {
  const problem = jobIdProblem(deployment, batchId);
  if (problem) throw bad(`${problem.replace('the job id', 'The batch id')}.`);
  return client.workflow.getHandle(jobWorkflowId(deployment, batchId));
}
