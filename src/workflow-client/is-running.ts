import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { describeReadable } from '../temporal/readable-memos.js';

/** True if the newest execution of the workflow runs; false if there is none. @throws what Temporal answers */
export async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  try {
    return (await describeReadable(client, workflowId)).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
