/**
 * Finds the owner of a sandbox, from its name and from what Temporal knows about the workflow that the name refers to.
 * Pure.
 */
import {
  executionOf,
  jobWorkflowId,
  ownerWorkflowId,
  parseOwnedSandboxName,
} from '../contract/workflow-safe/addresses.js';

export const ownerStatuses = ['open', 'closed', 'kept', 'unknown', 'none', 'other-deployment'] as const;

/**
 * - `open`: a workflow of this deployment owns it and runs.
 * - `closed`: Temporal showed that the execution that created it is closed. The sandbox is an orphan.
 * - `kept`: the job that created it has ended and kept this sandbox on purpose.
 * - `unknown`: its name refers to a workflow of this deployment, but Temporal does not know this workflow, or knows
 *   only other executions of it. This proves nothing, because the workflow may be in another cluster, or its retention
 *   may be over.
 * - `none`: no job created it.
 * - `other-deployment`: another deployment on the account created it.
 */
export type OwnerStatus = (typeof ownerStatuses)[number];

export interface Ownership {
  readonly status: OwnerStatus;
  /** The workflow that the name refers to, or null. */
  readonly workflowId: string | null;
}

/** Temporal's answer about the workflow id that a name refers to. */
export interface OwnerSeen {
  /** True if an execution of this id, or the workflow of the item, runs now. */
  readonly isOpen: boolean;
  /** First run ids of the closed executions of this id that Temporal showed. */
  readonly closedFirstRunIds: readonly string[];
  /** Sandboxes that executions of this id, or of the item's workflow, have kept on purpose. */
  readonly keptSandboxIds?: readonly string[];
}

/** The workflows that a name refers to. */
export interface OwnerToAsk {
  /** The job, or the batch. */
  readonly workflowId: string;
  readonly execution: string;
  /** The workflow of an item, which may outlive its terminated batch; undefined for the sandbox of a job. */
  readonly itemWorkflowId: string | undefined;
}

/** The workflows of `deployment` that Temporal must describe; undefined if the name alone shows the owner. */
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
