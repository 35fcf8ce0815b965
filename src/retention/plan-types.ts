/** What goes into a plan and what comes out of it. Types only. */
import type { SandboxFacts, Saved } from './facts.js';
import type { Candidate } from './match.js';
import type { Ownership } from './ownership.js';
import type { CleanupPolicy, RuleAction } from './policy.js';

export interface SnapshotFacts {
  readonly id: string;
  readonly name: string | null;
  readonly createdAt: string | null;
}

export interface PlanInput {
  readonly policy: CleanupPolicy;
  readonly nowMs: number;
  readonly candidates: readonly Candidate[];
  /** By sandbox id; only if a rule deletes snapshots. */
  readonly snapshots: ReadonlyMap<string, readonly SnapshotFacts[]>;
  /** What earlier runs of this night have done already. */
  readonly takenTonight: number;
  /** Number of sandboxes when the night began; null if no run of this night has counted them. */
  readonly fleetTonight: number | null;
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
  | 'over_limit';

export interface Decision {
  readonly reason: KeepReason;
  /** One sentence for people, without a full stop. */
  readonly why: string;
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
  /** When the service deletes its data, 14 days after its stop; null while it runs, and once that has happened. */
  readonly dataExpiresAt: string | null;
  /** The rule that it fits, or null. */
  readonly rule: string | null;
  /** What that rule asks for. */
  readonly wanted: RuleAction | null;
  /** What will be done; null: nothing. */
  readonly action: Exclude<RuleAction, 'keep'> | null;
  /** With `delete-snapshot`: those that go. */
  readonly snapshotIds: readonly string[];
  /** Why not all that the rule asks for is done; null if it is. */
  readonly reason: KeepReason | null;
  readonly why: string | null;
}

export interface PlannedAction {
  /** From 1, in the order in which they are done. */
  readonly number: number;
  readonly action: Exclude<RuleAction, 'keep'>;
  readonly rule: string;
  /** As it was when it was planned. */
  readonly facts: SandboxFacts;
  readonly owner: Ownership;
  /** With `delete-snapshot`. */
  readonly snapshotId: string | null;
  /** Sandboxes that stand for this one, as the newest of its group: while one of them is gone, this one stays. */
  readonly keeps: readonly string[];
}

/** The data of a protected sandbox is about to be lost. */
export interface ExpiryWarning {
  readonly sandboxId: string;
  readonly name: string | null;
  readonly dataExpiresAt: string;
}

export interface CleanupPlan {
  readonly at: string;
  /** Sandboxes of the account. */
  readonly fleet: number;
  /** Actions that the limits allow now. */
  readonly allowed: number;
  readonly takenTonight: number;
  /** Oldest first. */
  readonly entries: readonly PlanEntry[];
  readonly actions: readonly PlannedAction[];
  readonly warnings: readonly ExpiryWarning[];
}
