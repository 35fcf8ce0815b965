/** Finds the open workflows that work in a sandbox. */
import type { Client } from '@temporalio/client';
import { jobWorkflowId, ownerWorkflowId, sandboxWatchId } from '../addresses/addresses.js';
import { workingHoldersQuery } from '../protocol/messages.js';
import { isRunning } from './is-running.js';

interface NamedSandbox {
  readonly id: string;
  readonly name?: string | null | undefined;
}

/** An open job or batch. */
export interface WorkInSandbox {
  /** Its id; that of the workflow if it belongs to another deployment. */
  readonly id: string;
  readonly isBatch: boolean;
}

/**
 * The open jobs and batches that work in a sandbox: the owner that its name tells, and the holders of leases.
 * @throws what Temporal's client throws if it gets no answer, and knows of no work without it
 */
export async function workIn(client: Client, sandbox: NamedSandbox, deployment: string): Promise<WorkInSandbox[]> {
  const owner = await openOwner(client, sandbox);
  const holders = await leaseHolders(client, sandbox.id).catch((error: unknown) => {
    if (owner === undefined) throw error;
    return [];
  });
  const prefix = jobWorkflowId(deployment, '');
  const workflowIds = new Set([...(owner === undefined ? [] : [owner]), ...holders]);
  return [...workflowIds].map((workflowId) => {
    const own = workflowId.startsWith(prefix) ? workflowId.slice(prefix.length).split('/')[0] : undefined;
    return { id: own ?? workflowId, isBatch: own !== undefined && workflowId.includes('/') };
  });
}

async function openOwner(client: Client, { name }: NamedSandbox): Promise<string | undefined> {
  const workflowId = name == null ? undefined : ownerWorkflowId(name);
  return workflowId !== undefined && (await isRunning(client, workflowId)) ? workflowId : undefined;
}

async function leaseHolders(client: Client, sandboxId: string): Promise<readonly string[]> {
  const watchId = sandboxWatchId(sandboxId);
  // A watch that was terminated still knows leases that have expired since.
  if (!(await isRunning(client, watchId))) return [];
  return client.workflow.getHandle(watchId).query(workingHoldersQuery);
}
