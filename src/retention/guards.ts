/**
 * The guards that are checked for every sandbox right before it is stopped or deleted. A single guard can refuse the
 * action. Pure. The guards form a list, so that a test can remove each guard and show that the cleanup then loses
 * something that it must keep.
 */

import type { PlannedAction, SandboxFacts, SnapshotFacts } from '../protocol/cleanup-plan.js';
import type { CleanupPolicy } from '../protocol/cleanup-policy.js';
import type { Ownership } from '../protocol/sandbox-owner.js';
import { changedSince, changedSinceOfFailing } from './facts.js';
import { fitsAny } from './glob.js';
import { ruleFor } from './match.js';
import { isOwn, mayDelete, ownerRefusal } from './plan-refusals.js';
import { deletableSnapshots } from './snapshots.js';
import { isWindowOpen, windowsText } from './window.js';

/** What was read right before an action. */
export interface ApplyLook {
  readonly policy: CleanupPolicy;
  readonly planned: PlannedAction;
  readonly nowMs: number;
  /** Null if the sandbox no longer exists. */
  readonly facts: SandboxFacts | null;
  /** The owner according to the sandbox's current name or, if the sandbox no longer exists, its last name. */
  readonly owner: Ownership;
  /** Workflows that hold a lease on the sandbox, according to the watch's answer to the claim. */
  readonly leasedBy: readonly string[];
  /** False if the watch refused the claim, for example because another workflow holds a claim. */
  readonly claimGranted: boolean;
  /** Number of actions that the night's limits allow this run. */
  readonly allowed: number;
  /** The sandboxes in `planned.keeps` that no longer exist. */
  readonly missingKeeps: readonly string[];
  /** With `delete-snapshot`: all snapshots of the sandbox that are complete. */
  readonly snapshots: readonly SnapshotFacts[];
}

export interface Guard {
  readonly name: string;
  /** Why the action must not be done, or null. */
  readonly refuses: (look: ApplyLook) => string | null;
}

export const guards: readonly Guard[] = [
  { name: 'gone', refuses: ({ facts }) => (facts === null ? 'it no longer exists' : null) },
  {
    name: 'protected',
    refuses: ({ policy, facts }) => (fitsAny(policy.protect, facts?.name ?? '') ? 'its name is protected' : null),
  },
  { name: 'owner', refuses: ({ owner }) => ownerRefusal(owner)?.why ?? null },
  {
    name: 'leased',
    refuses: ({ claimGranted, leasedBy }) => {
      if (claimGranted) return null;
      return leasedBy.length > 0 ? `it is leased by ${leasedBy.join(', ')}` : 'something else is deleting it';
    },
  },
  {
    name: 'changed',
    refuses: ({ facts, planned }) => {
      const changedOf = planned.action === 'escalate' ? changedSinceOfFailing : changedSince;
      const changed = facts === null ? [] : changedOf(planned.facts, facts);
      return changed.length > 0 ? `it has changed since the plan: ${changed.join(', ')}` : null;
    },
  },
  {
    name: 'rule',
    refuses: ({ policy, facts, owner, planned, nowMs }) => {
      if (facts === null) return null;
      // The cost comes from the plan, because only the service's list shows it. It can only have grown since.
      const candidate = { facts: { ...facts, dollars: planned.facts.dollars }, owner };
      const rule = ruleFor(policy, candidate, nowMs);
      return rule?.rule === planned.rule && rule.action === planned.action ? null : 'its rule no longer matches';
    },
  },
  {
    name: 'newest',
    refuses: ({ missingKeeps, planned, facts }) => {
      if (facts !== null && planned.keeps.includes(facts.id)) return 'it is one of the newest of its group';
      return missingKeeps.length > 0
        ? `${missingKeeps.join(', ')}, which was kept in its place, no longer exists`
        : null;
    },
  },
  {
    name: 'snapshot',
    refuses: ({ policy, planned, snapshots, nowMs }) => {
      if (planned.snapshotId === null) return null;
      if (!snapshots.some(({ id }) => id === planned.snapshotId)) return 'the snapshot no longer exists';
      const rule = policy.rules.find((known) => known.rule === planned.rule);
      const mayGo = rule ? deletableSnapshots(snapshots, rule, { protect: policy.protect, nowMs }) : [];
      if (mayGo.some(({ id }) => id === planned.snapshotId)) return null;
      return 'the snapshot was renamed, or is now one of the newest';
    },
  },
  {
    name: 'access',
    refuses: ({ policy, facts, planned }) =>
      facts !== null && mayDelete(policy, planned.action) && !isOwn(facts.access)
        ? 'only its creator may delete it'
        : null,
  },
  {
    name: 'window',
    refuses: ({ policy, nowMs }) =>
      isWindowOpen(policy, nowMs) ? null : `the window has closed (${windowsText(policy)})`,
  },
  {
    name: 'limit',
    refuses: ({ planned, allowed }) => (planned.number > allowed ? `the limit per night is ${allowed}` : null),
  },
];

export type Verdict =
  | { readonly isDue: true }
  | { readonly isDue: false; readonly guard: string; readonly why: string };

/** @param using the guards to check; only tests omit some */
export function judge(look: ApplyLook, using: readonly Guard[] = guards): Verdict {
  for (const { name, refuses } of using) {
    const why = refuses(look);
    if (why !== null) return { isDue: false, guard: name, why };
  }
  return { isDue: true };
}
