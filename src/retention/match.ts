/** Finds the rule that a sandbox fits. Pure. */
import type { SandboxFacts, StopFollower } from '../protocol/cleanup-plan.js';
import type { CleanupPolicy, Rule, RuleMatch } from '../protocol/cleanup-policy.js';
import type { Ownership } from '../protocol/sandbox-owner.js';
import { firstFit, fitsAny } from './glob.js';

/** A sandbox and its owner. */
export interface Candidate {
  readonly facts: SandboxFacts;
  readonly owner: Ownership;
  /** Who waits for its failing stop; null or absent if nobody does. */
  readonly follower?: StopFollower | null;
}

/** The states that a deletion applies to if its rule names none: stopped or failed sandboxes, never running ones. */
const deletableStates: readonly string[] = ['archived', 'error'];

/** Time since `at`, in ms; undefined if `at` is not known. */
export function sinceMs(at: string | null, nowMs: number): number | undefined {
  const ms = at === null ? Number.NaN : nowMs - Date.parse(at);
  return Number.isNaN(ms) ? undefined : ms;
}

type Aged = Pick<SandboxFacts, 'id' | 'createdAt'>;

/** When a sandbox or a snapshot was created, in ms. One of unknown age counts as new. */
export const createdMs = ({ createdAt }: Aged) => Date.parse(createdAt ?? '') || Number.POSITIVE_INFINITY;

/** Orders by age, equal ages by id, so that a plan does not depend on the order of the list. */
export function oldestFirst(a: Aged, b: Aged): number {
  const difference = createdMs(a) - createdMs(b);
  return Number.isNaN(difference) || difference === 0 ? (a.id < b.id ? -1 : 1) : difference;
}

/** The first rule that the sandbox fits. */
export function ruleFor(policy: CleanupPolicy, candidate: Candidate, nowMs: number): Rule | undefined {
  return policy.rules.find((rule) => fitsRule(rule, candidate, nowMs));
}

function fitsRule(rule: Rule, { facts, owner }: Candidate, nowMs: number): boolean {
  const { match, action } = rule;
  const states = match.states ?? (action.startsWith('delete') ? deletableStates : null);
  return (
    fitsGroup(match, facts) &&
    (states === null || states.includes(facts.state)) &&
    longerThan(match.olderThanMs, sinceMs(facts.createdAt, nowMs)) &&
    (action !== 'escalate' || facts.stopFailingSince !== null) &&
    longerThan(match.stopFailingForMs ?? null, failingForMs(facts, nowMs)) &&
    longerThan(match.idleForMs, sinceMs(facts.idleSince, nowMs)) &&
    longerThan(match.costAboveDollars, facts.dollars ?? undefined) &&
    (match.dataExpired === null || match.dataExpired === (facts.dataExpiredAt !== null)) &&
    (match.owned === null
      ? owner.status !== 'kept' || action === 'keep' || action === 'escalate'
      : match.owned.includes(owner.status))
  );
}

/** The clock of the service may be ahead of this one, so its own times count, too. */
function failingForMs({ stopFailingSince, stopFailedForMs }: SandboxFacts, nowMs: number): number {
  return Math.max(sinceMs(stopFailingSince, nowMs) ?? 0, stopFailedForMs ?? 0);
}

/** True if a sandbox fits the name, environment and creator conditions of a rule. Ignores its age and state. */
export function fitsGroup({ names, environments, creators }: RuleMatch, facts: SandboxFacts): boolean {
  return (
    (names === null || (facts.name !== null && fitsAny(names, facts.name))) &&
    (environments === null || fitsEnvironment(environments, facts.environment)) &&
    (creators === null || creatorsOf(facts).some((creator) => fitsAny(creators, creator)))
  );
}

/** The group of a sandbox for which `fitsGroup` is true. The newest sandboxes of each group are kept. */
export function groupOf({ keepLastPer, match }: Rule, facts: SandboxFacts): string {
  switch (keepLastPer) {
    case 'rule':
      return '';
    case 'name':
      return firstFit(match.names ?? ['*'], facts.name ?? '') ?? '';
    case 'environment':
      return facts.environment ?? '';
    case 'creator':
      return facts.createdById ?? facts.createdBy ?? '';
  }
}

const creatorsOf = ({ createdBy, createdById }: SandboxFacts) => [createdBy, createdById].filter((by) => by !== null);

function fitsEnvironment(patterns: readonly (string | null)[], environment: string | null): boolean {
  if (environment === null) return patterns.includes(null);
  return fitsAny(
    patterns.filter((pattern) => pattern !== null),
    environment,
  );
}

const longerThan = (limit: number | null, value: number | undefined) =>
  limit === null || (value !== undefined && value > limit);
