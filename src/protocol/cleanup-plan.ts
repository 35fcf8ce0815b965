/** The plan of a cleanup, and the facts that it holds of a sandbox: small, and without secrets. Types only. */

import type { RuleAction } from './cleanup-policy.js';
import type { Ownership } from './sandbox-owner.js';

/** Whether the work in a sandbox is saved. `unknown` if the service does not say. */
export type Saved = 'saved' | 'stale' | 'none' | 'expired' | 'unknown';

/** One plan may cover ten thousand sandboxes. */
export interface SandboxFacts {
  readonly id: string;
  readonly name: string | null;
  readonly state: string;
  readonly access: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly archiveAfter: string | null;
  readonly environment: string | null;
  readonly createdBy: string | null;
  readonly createdById: string | null;
  /** Cost since the first of the month; null if it was not requested. */
  readonly dollars: number | null;
  readonly stopId: string | null;
  readonly stopStatus: string | null;
  /** When the stop was requested of which an attempt has failed; null if no stop fails. */
  readonly stopFailingSince: string | null;
  /** Time in ms from that request to the last attempt, both by the clock of the service; null if no stop fails. */
  readonly stopFailedForMs: number | null;
  readonly stoppedAt: string | null;
  readonly dataExpiredAt: string | null;
  /** Time of the last known activity; null if the sandbox is busy, or if the service does not say. */
  readonly idleSince: string | null;
  readonly saved: Saved;
  readonly savedAt: string | null;
}

/** A request that waits for a failing stop. */
export interface StopFollower {
  readonly requestId: string;
  /** The next step of its escalation; null if it has none, or all have ended. */
  readonly nextStep: string | null;
}

export interface SnapshotFacts {
  readonly id: string;
  readonly name: string | null;
  readonly createdAt: string | null;
}

/** Why nothing is done to a sandbox. */
export type KeepReason =
  | 'no_rule'
  | 'rule_keeps'
  | 'protected'
  | 'no_name'
  | 'kept_by_owner'
  | 'owner_open'
  | 'owner_unknown'
  | 'other_deployment'
  | 'kept_as_newest'
  | 'nothing_to_do'
  | 'in_between'
  | 'not_yours'
  | 'escalated_already'
  | 'over_limit';

export interface Decision {
  readonly reason: KeepReason;
  /** One sentence for people, without a full stop. */
  readonly why: string;
}

/** A stop of which an attempt has failed and that has not ended. */
export interface FailingStopEntry {
  readonly stopId: string;
  /** When it was requested, as an ISO 8601 time. */
  readonly since: string;
  /** The request that waits for it; null if nobody does. */
  readonly follower: StopFollower | null;
  /** The first step of the policy's escalation if its time has come; null otherwise. */
  readonly dueStep: string | null;
}

/** One line of a plan: every sandbox has one. */
export interface PlanEntry {
  readonly sandboxId: string;
  readonly name: string | null;
  readonly state: string;
  readonly ageMs: number | null;
  readonly idleMs: number | null;
  readonly owner: Ownership;
  readonly saved: Saved;
  readonly savedAt: string | null;
  /**
   * When the service deletes its data, 14 days after its stop; null while the sandbox runs, and once the data is
   * deleted.
   */
  readonly dataExpiresAt: string | null;
  /** Its failing stop; null if none fails. */
  readonly failingStop: FailingStopEntry | null;
  /** The rule that the sandbox fits, or null. */
  readonly rule: string | null;
  /** The action of that rule. */
  readonly wanted: RuleAction | null;
  /** The action that will be done; null if there is none. */
  readonly action: Exclude<RuleAction, 'keep'> | null;
  /** With `delete-snapshot`: the snapshots that will be deleted. */
  readonly snapshotIds: readonly string[];
  /** Why the rule's action is not done, or done only in part; null if it is done in full. */
  readonly reason: KeepReason | null;
  readonly why: string | null;
}

export interface PlannedAction {
  /** Number of the action, from 1. Actions are done in this order. */
  readonly number: number;
  readonly action: Exclude<RuleAction, 'keep'>;
  readonly rule: string;
  /** The sandbox at the time of the plan. */
  readonly facts: SandboxFacts;
  readonly owner: Ownership;
  /** The snapshot to delete; null unless the action is `delete-snapshot`. */
  readonly snapshotId: string | null;
  /**
   * The newest sandboxes of the group. This sandbox is deleted only because these are kept. If one of them no longer
   * exists, this sandbox is not deleted.
   */
  readonly keeps: readonly string[];
}

export interface PolicyPattern {
  /** Where it stands, such as `protect`. */
  readonly where: string;
  readonly pattern: string;
}

/** Warns that the data of a protected sandbox is about to be deleted. */
export interface ExpiryWarning {
  readonly sandboxId: string;
  readonly name: string | null;
  readonly dataExpiresAt: string;
}

export interface CleanupPlan {
  readonly at: string;
  /** Number of sandboxes in the account. */
  readonly fleet: number;
  /** Number of actions that the limits allow now. */
  readonly allowed: number;
  readonly takenTonight: number;
  /** Why the limits never let anything act on an account of this size, although something is due; null if they do. */
  readonly limitProblem: string | null;
  /** Patterns that match nothing in the account. */
  readonly unmatched: readonly PolicyPattern[];
  /** Oldest first. */
  readonly entries: readonly PlanEntry[];
  readonly actions: readonly PlannedAction[];
  readonly warnings: readonly ExpiryWarning[];
}
