/** Whose a sandbox is, by its name and by what Temporal knows of the workflow that the name leads to. Pure. */
import { executionOf, jobWorkflowId, ownerWorkflowId, parseOwnedSandboxName } from '../contract/addresses.js';

export const ownerStatuses = ['open', 'closed', 'kept', 'unknown', 'none', 'other-deployment'] as const;

/**
 * - `open`: a workflow of this deployment owns it and runs.
 * - `closed`: the execution that created it was seen to be closed. The sandbox is an orphan.
 * - `kept`: the job that created it has ended and kept this sandbox on purpose.
 * - `unknown`: its name leads to a workflow of this deployment that Temporal does not know, or whose execution is
 *   another one. That proves nothing: another cluster may have it, or its retention is over.
 * - `none`: no job made it.
 * - `other-deployment`: another deployment on the account made it.
 */
export type OwnerStatus = (typeof ownerStatuses)[number];

export interface Ownership {
  readonly status: OwnerStatus;
  /** The workflow that the name leads to, or null. */
  readonly workflowId: string | null;
}

/** What Temporal answered about the workflow id that a name leads to. */
export interface OwnerSeen {
  /** Whether an execution of this id, or the workflow of its item, runs now. */
  readonly isOpen: boolean;
  /** First run ids of the closed executions of this id that were seen. */
  readonly closedFirstRunIds: readonly string[];
  /** Sandboxes that executions of this id, or of its item's, have kept on purpose. */
  readonly keptSandboxIds?: readonly string[];
}

/** Which workflows a name leads to. */
export interface OwnerToAsk {
  /** The job, or the batch. */
  readonly workflowId: string;
  readonly execution: string;
  /** The workflow of an item, which may outlive a batch that was terminated; undefined for the sandbox of a job. */
  readonly itemWorkflowId: string | undefined;
}

/** The workflows of `deployment` to describe, or undefined if the name alone is enough. */
export function ownerToAsk(name: string | null, deployment: string): OwnerToAsk | undefined {
  const parts = name === null ? undefined : parseOwnedSandboxName(name);
  if (name === null || parts?.deployment !== deployment) return undefined;
  const workflowId = jobWorkflowId(parts.deployment, parts.jobId);
  const owner = ownerWorkflowId(name);
  return { workflowId, execution: parts.execution, itemWorkflowId: owner === workflowId ? undefined : owner };
}

/** @param seen undefined if Temporal knows no such workflow, or was not queried */
export function ownershipOf(
  { id, name }: { readonly id: string; readonly name: string | null },
  deployment: string,
  seen: OwnerSeen | undefined,
): Ownership {
  if (name === null) return { status: 'unknown', workflowId: null };
  const parts = parseOwnedSandboxName(name);
  if (!parts) return { status: 'none', workflowId: null };
  const workflowId = jobWorkflowId(parts.deployment, parts.jobId);
  if (parts.deployment !== deployment) return { status: 'other-deployment', workflowId };
  if (!seen) return { status: 'unknown', workflowId };
  // A later job under the same id may have taken the sandbox over, so any open execution keeps it.
  if (seen.isOpen) return { status: 'open', workflowId };
  if (seen.keptSandboxIds?.includes(id)) return { status: 'kept', workflowId };
  const isItsOwn = seen.closedFirstRunIds.some((runId) => executionOf(runId) === parts.execution);
  return { status: isItsOwn ? 'closed' : 'unknown', workflowId };
}
