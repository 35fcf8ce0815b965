/** What a cleanup may do: the policy, the plan, and the guards that are checked right before each action. */
export { factsOf, type SandboxFacts } from './facts.js';
export { fitsAny, patternProblem } from './glob.js';
export { type ApplyLook, judge, type Verdict } from './guards.js';
export type { Candidate, StopFollower } from './match.js';
export {
  type KnownOfSandbox,
  lastEnd,
  type OwnerSeen,
  type Ownership,
  type OwnerToAsk,
  ownershipOf,
  ownerToAsk,
  type SandboxEnd,
} from './ownership.js';
export { planCleanup } from './plan.js';
export type {
  CleanupPlan,
  ExpiryWarning,
  PlanEntry,
  PlannedAction,
  PolicyPattern,
  SnapshotFacts,
} from './plan-types.js';
export type { CleanupPolicy } from './policy.js';
export { unprotectedProblem } from './policy-patterns.js';
export { readPolicy } from './read-policy.js';
export { firstWindowCron } from './schedule-time.js';
export { type SweepOptions, sweepPolicy } from './sweep-policy.js';
export { isWindowOpen, nightBeganAtMs, windowsText, withOpenWindows } from './window.js';
