/**
 * Finds the jobs and batches whose own sandbox is being stopped. They stop it themselves, without a request, so no stop
 * workflow knows of them. The name of the sandbox says which one it is.
 */
import type { Client } from '@temporalio/client';
import { ownerWorkflowId, parseOwnedSandboxName } from '../../contract/workflow-safe/addresses.js';
import { isClosing } from '../../temporal/errors.js';
import { lenientClient } from '../../temporal/readable-memos.js';

export interface StopOwner {
  readonly kind: 'job' | 'batch';
  /** Id of the job or the batch. */
  readonly id: string;
  readonly deployment: string;
  /** Id of the workflow that owns the sandbox; for a fork, that of its item. */
  readonly workflowId: string;
}

interface Stop {
  readonly name: string | null;
  readonly owner: StopOwner | null;
}

const atOnce = 8;

/** @param running selects the workflows that run */
export async function withOwners<S extends Stop>(
  stops: readonly S[],
  running: (workflowIds: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<S[]> {
  const owned = stops.map((stop) => ({ stop, owner: ownerOf(stop.name) }));
  const alive = await running(owned.flatMap(({ owner }) => owner?.workflowId ?? []));
  return owned.map(({ stop, owner }) => (owner && alive.has(owner.workflowId) ? { ...stop, owner } : stop));
}

function ownerOf(name: string | null): StopOwner | undefined {
  if (name === null) return undefined;
  const parts = parseOwnedSandboxName(name);
  const workflowId = ownerWorkflowId(name);
  if (!parts || workflowId === undefined) return undefined;
  const kind = workflowId.includes('/') ? 'batch' : 'job';
  return { kind, id: parts.jobId, deployment: parts.deployment, workflowId };
}

export async function runningAmong(temporal: Client, workflowIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { workflow } = lenientClient(temporal);
  const running = new Set<string>();
  const rest = new Set(workflowIds).values();
  const describeOn = async () => {
    for (const workflowId of rest) if (await isRunning(workflow, workflowId)) running.add(workflowId);
  };
  await Promise.all(Array.from({ length: atOnce }, describeOn));
  return running;
}

async function isRunning(workflow: Client['workflow'], workflowId: string): Promise<boolean> {
  try {
    return (await workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
  } catch (error) {
    // Another Temporal namespace may have it.
    if (isClosing(error)) return false;
    throw error;
  }
}
