import type { Client } from '@temporalio/client';
import { describeIfThere } from '../temporal/readable-memos.js';

/** True if the newest execution of the workflow runs; false if there is none. @throws what Temporal answers */
export async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  return (await describeIfThere(client, workflowId))?.status.name === 'RUNNING';
}
