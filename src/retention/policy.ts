/** A cleanup policy as it is once it has been read: durations in ms, every default filled in. Types only. */
import type { OwnerStatus } from './ownership.js';

/** `keep` ends the search for a rule: what it matches is left alone. */
export type RuleAction = 'stop' | 'delete-sandbox' | 'delete-snapshot' | 'keep';

/** All conditions of a rule must hold; null holds always. A sandbox that lacks a fact never fits a condition on it. */
export interface RuleMatch {
  /** Patterns of names. */
  readonly names: readonly string[] | null;
  readonly states: readonly string[] | null;
  /** Older than this, in ms since its creation. */
  readonly olderThanMs: number | null;
  /** Without work for longer than this, in ms. */
  readonly idleForMs: number | null;
  /** Patterns of environments' names; null among them: attached to none. */
  readonly environments: readonly (string | null)[] | null;
  /** Patterns of the creator's display name or account id. */
  readonly creators: readonly string[] | null;
  /** Has cost more than this since the first of the month, in dollars at list price. */
  readonly costAboveDollars: number | null;
  /** Whether its snapshot data has been deleted, 14 days after its stop. */
  readonly dataExpired: boolean | null;
  readonly owned: readonly OwnerStatus[] | null;
}

/** What defines a group whose newest members are kept. */
export type KeepLastPer = 'rule' | 'name' | 'environment' | 'creator';

export interface Rule {
  /** Says in plans and reports which rule it was. */
  readonly rule: string;
  readonly match: RuleMatch;
  readonly action: RuleAction;
  /** How many of the newest of each group are kept, whatever their age and state. */
  readonly keepLast: number;
  readonly keepLastPer: KeepLastPer;
  /** With `delete-snapshot`: how many of the newest snapshots of each sandbox are kept. At least 1. */
  readonly keepSnapshots: number;
  /** With `delete-snapshot`: patterns of names of snapshots that may go; those without a name may anyway. */
  readonly snapshotNames: readonly string[];
  /** With `delete-snapshot`: only snapshots that are older, in ms; null: all. */
  readonly snapshotsOlderThanMs: number | null;
}

/** Days of the week, as windows name them. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** Minutes since midnight, in the policy's time zone. `to` before `from` is on the next day. */
export interface Window {
  readonly fromMinute: number;
  readonly toMinute: number;
  /** Days on which it opens. */
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
  /** How long before the data of a protected sandbox expires a warning is raised, in ms; null: never. */
  readonly warnBeforeExpiryMs: number | null;
  /** Receives warnings, and refusals of the service. */
  readonly notify: { readonly url?: string; readonly commandId?: string } | null;
  /** The first that fits counts. */
  readonly rules: readonly Rule[];
}
