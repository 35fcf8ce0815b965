/** Finds the open workflows that work in a sandbox. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { jobWorkflowId, ownerWorkflowId, sandboxWatchId } from '../contract/workflow-safe/addresses.js';
import { workingHoldersQuery } from '../protocol/messages.js';
import { describeReadable } from '../temporal/readable-memos.js';

interface NamedSandbox {
  readonly id: string;
  readonly name?: string | null | undefined;
}

/**
 * The ids of open jobs and batches that work in a sandbox: the owner that its name tells, and the holders of leases. An
 * id is that of a workflow if it belongs to another deployment.
 * @throws what Temporal's client throws if it gets no answer
 */
export async function workIn(client: Client, sandbox: NamedSandbox, deployment: string): Promise<string[]> {
  const [owner, holders] = await Promise.all([openOwner(client, sandbox), leaseHolders(client, sandbox.id)]);
  const prefix = jobWorkflowId(deployment, '');
  const idOf = (workflowId: string) =>
    workflowId.startsWith(prefix) ? (workflowId.slice(prefix.length).split('/')[0] ?? '') : workflowId;
  return [...new Set([...(owner === undefined ? [] : [owner]), ...holders].map(idOf))];
}

async function openOwner(client: Client, { name }: NamedSandbox): Promise<string | undefined> {
  const workflowId = name == null ? undefined : ownerWorkflowId(name);
  return workflowId !== undefined && (await isOpen(client, workflowId)) ? workflowId : undefined;
}

async function leaseHolders(client: Client, sandboxId: string): Promise<readonly string[]> {
  const watchId = sandboxWatchId(sandboxId);
  // A watch that was terminated still knows leases that have expired since.
  if (!(await isOpen(client, watchId))) return [];
  return client.workflow.getHandle(watchId).query(workingHoldersQuery);
}

async function isOpen(client: Client, workflowId: string): Promise<boolean> {
  try {
    return (await describeReadable(client, workflowId)).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
