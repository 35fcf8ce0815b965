/** What a cleanup may do: the policy, the plan, and the guards that are checked right before each action. */

export type {
  CleanupPlan,
  PlannedAction,
  SandboxFacts,
  SnapshotFacts,
  StopFollower,
} from '../protocol/cleanup-plan.js';
export type { CleanupPolicy } from '../protocol/cleanup-policy.js';
export type { Ownership, SandboxEnd } from '../protocol/sandbox-owner.js';
export { factsOf } from './facts.js';
export { fitsAny, patternProblem } from './glob.js';
export { type ApplyLook, judge, type Verdict } from './guards.js';
export type { Candidate } from './match.js';
export { type KnownOfSandbox, lastEnd, type OwnerSeen, type OwnerToAsk, ownershipOf, ownerToAsk } from './ownership.js';
export { planCleanup } from './plan.js';
export { unprotectedProblem } from './policy-patterns.js';
export { readPolicy } from './policy-schema.js';
export { type SweepOptions, sweepPolicy } from './sweep-policy.js';
export { firstWindowCron, isWindowOpen, nightBeganAtMs, windowsText, withOpenWindows } from './window.js';
