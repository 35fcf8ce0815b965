/**
 * Finds the owner of a sandbox, from its name, from what Temporal knows about the workflow that the name refers to, and
 * from how jobs ended the sandbox. Pure.
 */

import { executionOf, jobWorkflowId, ownerWorkflowId, parseOwnedSandboxName } from '../addresses/addresses.js';
import type { Ownership, SandboxEnd } from '../protocol/sandbox-owner.js';

/** What is known of a sandbox beside its owner. */
export interface KnownOfSandbox {
  /** Its ends by other jobs than its owner. Default: none. */
  readonly ends?: readonly SandboxEnd[];
  /** True if another sandbox of the account has the same name. Default: false. */
  readonly hasNamesake?: boolean;
}

/** Temporal's answer about the workflow id that a name refers to. */
export interface OwnerSeen {
  /** True if an execution of this id, or the workflow of the item, runs now. */
  readonly isOpen: boolean;
  /** First run ids of the closed executions of this id that Temporal showed. */
  readonly closedFirstRunIds: readonly string[];
  /** The sandboxes that executions of this id, or of the item's workflow, knew at their ends. */
  readonly ends?: readonly SandboxEnd[];
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
  { ends = [], hasNamesake = false }: KnownOfSandbox = {},
): Ownership {
  if (name === null) return { status: 'unknown', workflowId: null };
  const parts = parseOwnedSandboxName(name);
  const workflowId = parts ? jobWorkflowId(parts.deployment, parts.jobId) : null;
  if (parts && parts.deployment !== deployment) return { status: 'other-deployment', workflowId };
  const last = lastEnd([...ends, ...(seen?.ends ?? [])].filter(({ sandboxId }) => sandboxId === id));
  const known = last && { ended: last };
  // A later job under the same id may have taken the sandbox over, so any open execution keeps it.
  if (seen?.isOpen) return { status: 'open', workflowId, ...known };
  if (last?.ended === null) {
    return { status: 'unknown', workflowId, why: `it cannot be read how ${last.workflowId} ended it`, ...known };
  }
  if (last?.ended.end === 'kept') return { status: 'kept', workflowId: last.workflowId, ...known };
  if (!parts) return { status: 'none', workflowId, ...known };
  const isItsOwn = seen?.closedFirstRunIds.some((runId) => executionOf(runId) === parts.execution);
  if (!seen || !isItsOwn) return { status: 'unknown', workflowId, ...known };
  const doubt = doubtOf({ id, name }, seen.ends ?? [], hasNamesake);
  if (doubt !== null) return { status: 'unknown', workflowId, why: doubt, ...known };
  return { status: 'closed', workflowId, ...known };
}

/** The last of these ends that decides; undefined if there is none. */
export function lastEnd(ends: readonly SandboxEnd[]): SandboxEnd | undefined {
  return ends
    .filter(({ ended }) => ended?.end !== 'left')
    .reduce<SandboxEnd | undefined>((last, end) => (last && last.atMs > end.atMs ? last : end), undefined);
}

/** Why a sandbox with the name of a closed job may be somebody's fork; null if it is the job's own. */
function doubtOf(
  { id, name }: { readonly id: string; readonly name: string },
  ends: readonly SandboxEnd[],
  hasNamesake: boolean,
): string | null {
  // The value alone says which name it is about.
  const same = ends.filter(({ ended }) => ended === null || ended.name === name);
  if (same.some(({ sandboxId }) => sandboxId === id)) return null;
  const [other] = same;
  if (other?.ended === null) return `it cannot be read which sandbox ${other.workflowId} created`;
  const fork = 'this one may be a fork that inherited its name';
  if (other) return `the sandbox of ${other.workflowId} with this name is ${other.sandboxId}; ${fork}`;
  return hasNamesake ? `another sandbox has the same name; ${fork}` : null;
}
