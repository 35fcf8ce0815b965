/** Who owns a sandbox, as a cleanup finds out. */
import type { EndedSandbox } from './ended-sandbox.js';

export const ownerStatuses = ['open', 'closed', 'kept', 'unknown', 'none', 'other-deployment'] as const;

/**
 * - `open`: a workflow of this deployment owns it and runs.
 * - `closed`: Temporal showed that the execution that created it is closed. The sandbox is an orphan.
 * - `kept`: the last job that ended this sandbox kept it on purpose, whether it created the sandbox or was given it.
 * - `unknown`: its name refers to a workflow of this deployment, but Temporal does not know this workflow, or knows
 *   only other executions of it. This proves nothing, because the workflow may be in another cluster, or its retention
 *   may be over. Or the sandbox may be somebody's fork: a fork without a name inherits the name of its source.
 * - `none`: no job created it.
 * - `other-deployment`: another deployment on the account created it.
 */
export type OwnerStatus = (typeof ownerStatuses)[number];

export interface Ownership {
  readonly status: OwnerStatus;
  /** The workflow that the name refers to, or null; with `kept`, the job that kept it. */
  readonly workflowId: string | null;
  /** With `unknown`: why, if Temporal does know the workflow. One sentence for people, without a full stop. */
  readonly why?: string;
  /** The last end of the sandbox by a job; absent if none is known. */
  readonly ended?: SandboxEnd;
}

/** How a job ended a sandbox. */
export interface SandboxEnd {
  readonly sandboxId: string;
  /** The job, or the item. */
  readonly workflowId: string;
  /** When the job ended the sandbox, in ms since the epoch; when it closed, if it did not tell. */
  readonly atMs: number;
  /** What the job wrote; null if it cannot be read. */
  readonly ended: EndedSandbox | null;
}
