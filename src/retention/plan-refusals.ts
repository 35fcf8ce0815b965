/** Decides why the action of a rule is not planned. Pure. */
import { isCreating } from '../contract/workflow-safe/states.js';
import type { Decision, SnapshotFacts } from '../protocol/cleanup-plan.js';
import type { CleanupPolicy, Rule, RuleAction } from '../protocol/cleanup-policy.js';
import type { Ownership } from '../protocol/sandbox-owner.js';
import { fitsAny } from './glob.js';
import type { Candidate } from './match.js';

interface Draft {
  readonly policy: CleanupPolicy;
  readonly candidate: Candidate;
  readonly rule: Rule | null;
  /** True if the sandbox is one of the newest of its group. */
  readonly isKept: boolean;
  readonly snapshots: readonly SnapshotFacts[];
}

/** The first reason that holds, or null if the action is due. */
export function refusalOf({ policy, candidate, rule, isKept, snapshots }: Draft): Decision | null {
  const { facts, owner, follower } = candidate;
  if (rule === null && owner.status === 'kept') {
    return {
      reason: 'kept_by_owner',
      why: `${owner.workflowId} kept it on purpose, and no rule for kept sandboxes matches`,
    };
  }
  if (rule === null) return { reason: 'no_rule', why: 'no rule matches' };
  if (rule.action === 'keep') return { reason: 'rule_keeps', why: 'its rule keeps it' };
  if (facts.name === null) return { reason: 'no_name', why: 'it has no name, so its owner is unknown' };
  if (fitsAny(policy.protect, facts.name)) return { reason: 'protected', why: 'its name is protected' };
  const owned = ownerRefusal(owner);
  if (owned) return owned;
  if (isKept) return { reason: 'kept_as_newest', why: `it is one of the newest ${rule.keepLast} of its group` };
  const stands = stateRefusal(rule.action, facts.state);
  if (stands) return stands;
  if (rule.action === 'escalate' && follower?.nextStep != null) {
    const why = `the request ${follower.requestId} already escalates its stop, next by "${follower.nextStep}"`;
    return { reason: 'escalated_already', why };
  }
  if (mayDelete(policy, rule.action) && !isOwn(facts.access))
    return { reason: 'not_yours', why: 'only its creator may delete it' };
  if (rule.action === 'delete-snapshot' && snapshots.length === 0) {
    return { reason: 'nothing_to_do', why: 'it has no snapshot that may be deleted' };
  }
  return null;
}

/** True if the action may end in a deletion. */
export function mayDelete({ escalate }: CleanupPolicy, action: RuleAction): boolean {
  if (action === 'escalate') return escalate?.steps.some((step) => step.action === 'delete') ?? false;
  return action !== 'stop';
}

/** Teammates may only stop a sandbox (specification, "Access rules"). */
export function isOwn(access: string | null): boolean {
  return access === null || access === 'owner';
}

/**
 * Refuses every sandbox that may have an owner. Only sandboxes without a job, and sandboxes of ended jobs, may be
 * stopped or deleted.
 */
export function ownerRefusal({ status, workflowId, why }: Ownership): Decision | null {
  switch (status) {
    case 'open':
      return { reason: 'owner_open', why: `its owner ${workflowId} is running` };
    case 'unknown':
      return {
        reason: 'owner_unknown',
        why: why ?? `Temporal has no record of the execution of ${workflowId} that created it`,
      };
    case 'other-deployment':
      return { reason: 'other_deployment', why: `another deployment owns it (${workflowId})` };
    default:
      return null;
  }
}

function stateRefusal(action: RuleAction, state: string): Decision | null {
  if (state === 'cancelled') return { reason: 'nothing_to_do', why: 'the service has removed it' };
  if (isCreating(state)) return { reason: 'in_between', why: 'it is being created' };
  if (action === 'stop' && state === 'archived') return { reason: 'nothing_to_do', why: 'it is already stopped' };
  if (action === 'escalate') return null;
  if (state === 'archiving') return { reason: 'in_between', why: 'it is being stopped' };
  return null;
}
