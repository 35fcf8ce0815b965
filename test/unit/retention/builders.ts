/** One sandbox, rule or policy each, of which a test names only what it is about. */
import type { SandboxFacts } from '../../../src/protocol/cleanup-plan.js';
import type { CleanupPolicy, Rule, RuleMatch } from '../../../src/protocol/cleanup-policy.js';
import type { Ownership } from '../../../src/protocol/sandbox-owner.js';
import type { Candidate } from '../../../src/retention/match.js';
import type { PlanInput } from '../../../src/retention/plan.js';
import { planCleanup } from '../../../src/retention/plan.js';

export const nowMs = Date.parse('2026-06-15T02:00:00Z');

/** An ISO 8601 time so many days ago. */
export const daysAgo = (days: number) => new Date(nowMs - days * 86_400_000).toISOString();

/** A stopped, saved sandbox that the account made ten days ago. */
export const factsWith = (over: Partial<SandboxFacts> = {}): SandboxFacts => ({
  id: 'bx_a',
  name: 'ci-1',
  state: 'archived',
  access: 'owner',
  createdAt: daysAgo(10),
  updatedAt: daysAgo(5),
  archiveAfter: null,
  environment: null,
  createdBy: null,
  createdById: null,
  dollars: null,
  stopId: 'stop_1',
  stopStatus: 'completed',
  stopFailingSince: null,
  stopFailedForMs: null,
  stoppedAt: daysAgo(5),
  dataExpiredAt: null,
  idleSince: daysAgo(5),
  saved: 'saved',
  savedAt: daysAgo(5),
  ...over,
});

export const nobody: Ownership = { status: 'none', workflowId: null };

export const candidateWith = (over: Partial<SandboxFacts> = {}, owner: Ownership = nobody): Candidate => ({
  facts: factsWith(over),
  owner,
});

export const ruleWith = ({
  match,
  ...over
}: Partial<Omit<Rule, 'match'>> & { match?: Partial<RuleMatch> } = {}): Rule => ({
  rule: 'old',
  action: 'delete-sandbox',
  keepLast: 0,
  keepLastPer: 'rule',
  keepSnapshots: 1,
  snapshotNames: [],
  snapshotsOlderThanMs: null,
  ...over,
  match: {
    ...{ names: null, states: null, olderThanMs: null, idleForMs: null, environments: null, creators: null },
    ...{ costAboveDollars: null, stopFailingForMs: null, dataExpired: null, owned: null },
    ...match,
  },
});

export const policyWith = (over: Partial<CleanupPolicy> = {}): CleanupPolicy => ({
  name: 'nightly',
  timeZone: 'UTC',
  windows: [],
  limits: { maxActions: 100, maxPercent: 100 },
  protect: [],
  protectMayMatchNothing: false,
  warnBeforeExpiryMs: null,
  notify: null,
  escalate: null,
  rules: [ruleWith()],
  ...over,
});

export const planWith = (over: Partial<PlanInput> = {}) =>
  planCleanup({
    ...{ policy: policyWith(), nowMs, candidates: [candidateWith()], snapshots: new Map() },
    ...{ takenTonight: 0, fleetTonight: null },
    ...over,
  });
