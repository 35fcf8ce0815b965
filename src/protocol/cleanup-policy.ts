/** A cleanup policy that has been read: durations are in ms, and every default is filled in. Types only. */
import type { Chat } from './chats.js';
import type { Escalation } from './escalation.js';
import type { OwnerStatus } from './sandbox-owner.js';

/**
 * `escalate` gives a failing stop to the workflow of the sandbox's stops, with the escalation of the policy. `keep` does
 * nothing to the sandboxes that its rule matches, and no later rule applies to them.
 */
export type RuleAction = 'stop' | 'escalate' | 'delete-sandbox' | 'delete-snapshot' | 'keep';

/**
 * The conditions of a rule, which must all hold. A null condition always holds. If a fact about a sandbox is unknown, a
 * condition on this fact does not hold.
 */
export interface RuleMatch {
  /** Patterns of names. */
  readonly names: readonly string[] | null;
  readonly states: readonly string[] | null;
  /** Older than this, in ms since its creation. */
  readonly olderThanMs: number | null;
  /** Idle for longer than this, in ms. */
  readonly idleForMs: number | null;
  /** Patterns of names of environments. A null entry matches sandboxes without an environment. */
  readonly environments: readonly (string | null)[] | null;
  /** Patterns of the creator's display name or account id. */
  readonly creators: readonly string[] | null;
  /** Has cost more than this since the first of the month, in dollars at list price. */
  readonly costAboveDollars: number | null;
  /** Whether its snapshot data has been deleted, 14 days after its stop. */
  readonly dataExpired: boolean | null;
  /** Its stop fails, and was requested longer ago than this, in ms. */
  readonly stopFailingForMs: number | null;
  readonly owned: readonly OwnerStatus[] | null;
}

/** What defines a group whose newest members are kept. */
export type KeepLastPer = 'rule' | 'name' | 'environment' | 'creator';

export interface Rule {
  /** Title of the rule in plans and reports. */
  readonly rule: string;
  readonly match: RuleMatch;
  readonly action: RuleAction;
  /** How many of the newest sandboxes of each group are kept, independent of their age and state. */
  readonly keepLast: number;
  readonly keepLastPer: KeepLastPer;
  /** With `delete-snapshot`: how many of the newest snapshots of each sandbox are kept. At least 1. */
  readonly keepSnapshots: number;
  /**
   * With `delete-snapshot`: patterns of names of snapshots that may be deleted. Snapshots without a name need no
   * pattern.
   */
  readonly snapshotNames: readonly string[];
  /** With `delete-snapshot`: minimum age of snapshots that may be deleted, in ms; null: any age. */
  readonly snapshotsOlderThanMs: number | null;
}

/** Days of the week, as windows name them. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/**
 * A time window, in minutes since midnight in the policy's time zone. A `toMinute` before `fromMinute` is on the next
 * day.
 */
export interface Window {
  readonly fromMinute: number;
  readonly toMinute: number;
  /** Days on which the window opens. */
  readonly days: readonly Weekday[];
}

/** A cleanup policy after validation; see `readPolicy`. */
export interface CleanupPolicy {
  /** Unique within the deployment; part of the workflow and schedule ids. */
  readonly name: string;
  /** An IANA name. */
  readonly timeZone: string;
  /** When cleanups may act; empty: always. */
  readonly windows: readonly Window[];
  /** Limits for one night. */
  readonly limits: {
    /** Maximum number of actions per night. */
    readonly maxActions: number;
    /** Maximum share of all sandboxes per night, in percent, rounded down. */
    readonly maxPercent: number;
  };
  /** Patterns of names that are never touched. */
  readonly protect: readonly string[];
  /** If false, nothing is deleted while one of these patterns matches nothing: it may be mistyped. */
  readonly protectMayMatchNothing: boolean;
  /** A warning is raised this long before the data of a protected sandbox expires, in ms; null: never. */
  readonly warnBeforeExpiryMs: number | null;
  /** Receives warnings, and refusals of the service. */
  readonly notify: { readonly url: string; readonly chat?: Chat } | null;
  /**
   * The steps of rules with the action `escalate`, and of stops of this cleanup that have not ended in time; null: none.
   */
  readonly escalate: Escalation | null;
  /** Results of jobs and batches that Temporal has forgotten are removed from this age, in ms. Absent: never. */
  readonly resultsOlderThanMs?: number | undefined;
  /** The first rule that a sandbox fits counts. */
  readonly rules: readonly Rule[];
}
