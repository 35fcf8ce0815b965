/**
 * Plans what a cleanup does, and why it leaves the other sandboxes alone. Pure: the same facts, policy and time produce
 * the same plan.
 *
 * Only the first rule that matches a sandbox applies. Its action is refused if the sandbox is protected, has an owner
 * or is one of the newest of its group, or if there is nothing to do; the plan names the first of these reasons. The
 * remaining actions are done oldest sandbox first, up to the night's limit.
 */

import { dataKeptMs } from '../contract/workflow-safe/limits.js';
import type {
  CleanupPlan,
  Decision,
  ExpiryWarning,
  PlanEntry,
  PlannedAction,
  SandboxFacts,
  SnapshotFacts,
} from '../protocol/cleanup-plan.js';
import type { CleanupPolicy, Rule } from '../protocol/cleanup-policy.js';
import { stepText } from '../protocol/escalation.js';
import { isDate } from '../texts/is-date.js';
import { fitsAny } from './glob.js';
import { type Candidate, fitsGroup, groupOf, oldestFirst, ruleFor, sinceMs } from './match.js';
import { refusalOf } from './plan-refusals.js';
import { unmatchedPatterns } from './policy-patterns.js';
import { deletableSnapshots } from './snapshots.js';

export interface PlanInput {
  readonly policy: CleanupPolicy;
  readonly nowMs: number;
  readonly candidates: readonly Candidate[];
  /** By sandbox id; only if a rule deletes snapshots. */
  readonly snapshots: ReadonlyMap<string, readonly SnapshotFacts[]>;
  /** Number of actions that earlier runs of this night have done. */
  readonly takenTonight: number;
  /** Number of sandboxes when the night began; null if no run of this night has counted them. */
  readonly fleetTonight: number | null;
}

interface Drafted {
  readonly candidate: Candidate;
  readonly rule: Rule | null;
  readonly refusal: Decision | null;
  /**
   * The sandboxes of the group that are kept as the newest. They must still exist when the action on this sandbox is
   * done.
   */
  readonly keeps: readonly string[];
  readonly snapshots: readonly SnapshotFacts[];
}

/** Number of actions that the night's limits still allow. */
export function allowedOf({ limits }: CleanupPolicy, fleet: number, takenTonight: number): number {
  return Math.max(0, Math.min(limits.maxActions, shareOf(limits, fleet)) - takenTonight);
}

const shareOf = ({ maxPercent }: CleanupPolicy['limits'], fleet: number) => Math.floor((fleet * maxPercent) / 100);

/**
 * Why no night can ever act on an account of this size, or null. The share is not rounded up: it was written down so
 * that no more than this can be lost in a night.
 */
export function limitProblemOf({ limits }: CleanupPolicy, fleet: number): string | null {
  const nothing = 'so nothing is ever stopped or deleted';
  if (limits.maxActions === 0) return `limits.maxActions is 0, ${nothing}`;
  if (shareOf(limits, fleet) > 0 || fleet === 0) return null;
  const [count, least] = [fleet === 1 ? '1 sandbox' : `${fleet} sandboxes`, Math.ceil(100 / fleet)];
  return `limits.maxPercent is ${limits.maxPercent}, which is less than one of ${count}, ${nothing}; ${least} is the least that lets one act`;
}

export function planCleanup(input: PlanInput): CleanupPlan {
  const { policy, nowMs, candidates, takenTonight, fleetTonight } = input;
  const fleet = fleetTonight ?? candidates.length;
  const allowed = allowedOf(policy, fleet, takenTonight);
  const newest = new Map(policy.rules.map((rule) => [rule, newestPerGroup(rule, candidates)]));
  const drafts = [...candidates]
    .sort((a, b) => oldestFirst(a.facts, b.facts))
    .map((candidate) => draft(input, candidate, newest));
  const actions: PlannedAction[] = [];
  const entries = drafts.map((drafted): PlanEntry => {
    const { candidate, rule, refusal, keeps, snapshots } = drafted;
    const entry = (refused: Decision | null, of = drafted) => entryOf(of, { policy, nowMs }, refused);
    if (refusal !== null || rule === null || rule.action === 'keep') return entry(refusal);
    const { facts, owner } = candidate;
    const { action } = rule;
    const wanted = action === 'delete-snapshot' ? snapshots.map(({ id }) => id) : [null];
    const granted = wanted.slice(0, allowed - actions.length);
    for (const snapshotId of granted) {
      const number = actions.length + 1;
      actions.push({ number, action, rule: rule.rule, facts, owner, snapshotId, keeps });
    }
    if (granted.length === wanted.length) return entry(null);
    const why = `the limit allows ${allowed}${takenTonight > 0 ? ' more' : ''} tonight; left for the next night`;
    return entry({ reason: 'over_limit', why }, { ...drafted, snapshots: snapshots.slice(0, granted.length) });
  });
  return {
    at: new Date(nowMs).toISOString(),
    fleet: candidates.length,
    allowed,
    takenTonight,
    limitProblem: entries.some(({ reason }) => reason === 'over_limit') ? limitProblemOf(policy, fleet) : null,
    unmatched: unmatchedPatterns(policy, candidates, input.snapshots),
    entries,
    actions,
    warnings: warningsOf(policy, candidates, nowMs),
  };
}

function draft(
  { policy, nowMs, snapshots: known }: PlanInput,
  candidate: Candidate,
  newest: ReadonlyMap<Rule, ReadonlyMap<string, readonly string[]>>,
): Drafted {
  const rule = ruleFor(policy, candidate, nowMs) ?? null;
  const { facts } = candidate;
  const keeps = rule === null ? [] : (newest.get(rule)?.get(groupOf(rule, facts)) ?? []);
  const snapshots =
    rule?.action === 'delete-snapshot'
      ? deletableSnapshots(known.get(facts.id) ?? [], rule, { protect: policy.protect, nowMs })
      : [];
  const refusal = refusalOf({ policy, candidate, rule, isKept: keeps.includes(facts.id), snapshots });
  return { candidate, rule, refusal, keeps, snapshots };
}

/**
 * The ids of the newest sandboxes in each group of a rule. Cancelled sandboxes, and those whose data has expired, are
 * not worth keeping and do not count.
 */
function newestPerGroup(rule: Rule, candidates: readonly Candidate[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  if (rule.keepLast === 0) return groups;
  const members = candidates
    .map(({ facts }) => facts)
    .filter((facts) => fitsGroup(rule.match, facts) && facts.state !== 'cancelled' && facts.dataExpiredAt === null);
  for (const facts of members.sort(oldestFirst).reverse()) {
    const group = groupOf(rule, facts);
    const kept = groups.get(group) ?? [];
    if (kept.length < rule.keepLast) groups.set(group, [...kept, facts.id]);
  }
  return groups;
}

function entryOf(
  { candidate, rule, snapshots }: Drafted,
  { policy, nowMs }: Pick<PlanInput, 'policy' | 'nowMs'>,
  refusal: Decision | null,
): PlanEntry {
  const { facts, owner } = candidate;
  const expiresAtMs = dataExpiresAtMs(facts);
  return {
    sandboxId: facts.id,
    name: facts.name,
    state: facts.state,
    ageMs: sinceMs(facts.createdAt, nowMs) ?? null,
    idleMs: sinceMs(facts.idleSince, nowMs) ?? null,
    owner,
    saved: facts.saved,
    savedAt: facts.savedAt,
    dataExpiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
    failingStop: failingStopOf(candidate, policy, nowMs),
    rule: rule?.rule ?? null,
    wanted: rule?.action ?? null,
    action: refusal === null && rule !== null && rule.action !== 'keep' ? rule.action : null,
    snapshotIds: snapshots.map(({ id }) => id),
    ...(refusal ?? { reason: null, why: null }),
  };
}

function failingStopOf({ facts, follower = null }: Candidate, { escalate }: CleanupPolicy, nowMs: number) {
  const { stopId, stopFailingSince: since } = facts;
  if (stopId === null || since === null) return null;
  const [first] = escalate?.steps ?? [];
  const isDue = first !== undefined && (sinceMs(since, nowMs) ?? 0) >= first.afterMs;
  return { stopId, since, follower, dueStep: isDue ? stepText(first) : null };
}

/**
 * When the service deletes the data of a stopped sandbox; undefined while the sandbox runs, and if there is no data.
 */
export function dataExpiresAtMs({ state, stoppedAt, dataExpiredAt, saved }: SandboxFacts): number | undefined {
  if (state !== 'archived' || stoppedAt === null || dataExpiredAt !== null || saved === 'none') return undefined;
  const ms = Date.parse(stoppedAt) + dataKeptMs;
  return isDate(ms) ? ms : undefined;
}

/** The warnings that are due, the soonest expiry first. */
export function warningsOf(policy: CleanupPolicy, candidates: readonly Candidate[], nowMs: number): ExpiryWarning[] {
  const { protect, warnBeforeExpiryMs } = policy;
  if (warnBeforeExpiryMs === null) return [];
  return candidates
    .filter(({ facts }) => facts.name !== null && fitsAny(protect, facts.name))
    .flatMap(({ facts }) => {
      const atMs = dataExpiresAtMs(facts);
      if (atMs === undefined || atMs - nowMs > warnBeforeExpiryMs) return [];
      return [{ sandboxId: facts.id, name: facts.name, dataExpiresAt: new Date(atMs).toISOString() }];
    })
    .sort((a, b) => Date.parse(a.dataExpiresAt) - Date.parse(b.dataExpiresAt));
}
