/** Reads the facts for a cleanup plan, creates the plan, and stores it in the result store. */
import { activityInfo, Context } from '@temporalio/activity';
import type { SandboxClient } from '../../src/client/index.js';
import type { Sandbox } from '../../src/contract/records/sandbox-records.js';
import type { CleanupPlanned } from '../../src/protocol/cleanup.js';
import type { ResultStore } from '../../src/result-store/index.js';
import {
  type Candidate,
  type CleanupPlan,
  type CleanupPolicy,
  factsOf,
  isWindowOpen,
  type PlannedAction,
  planCleanup,
  type SandboxFacts,
  type SnapshotFacts,
  unprotectedProblem,
  windowsText,
} from '../../src/retention/index.js';
import { type Attempt, repeatable } from '../retry/attempt.js';
import { followerOf } from '../stop/stop-request.js';
import { addByKey } from './add-by-key.js';
import { readNight } from './night.js';
import { createOwnerReader } from './owners.js';
import { readLastEnds } from './sandbox-ends.js';

export interface PlanCleanupInput {
  readonly deployment: string;
  readonly policy: CleanupPolicy;
  /** Prefix of this cleanup's keys in the result store. */
  readonly key: string;
  readonly chunkSize: number;
}

export interface LookAtOthersInput extends Pick<PlanCleanupInput, 'deployment' | 'policy'> {
  /** Number of actions that other runs had done or announced when the plan was created. */
  readonly takenTonight: number;
}

/** A chunk of the plan, with everything needed to apply it. */
export interface CleanupChunk {
  readonly deployment: string;
  readonly policy: CleanupPolicy;
  readonly allowed: number;
  /** When the reads of the plan began, in ms since the epoch. */
  readonly readSinceMs: number;
  readonly actions: readonly PlannedAction[];
}

/** Number of concurrent owner lookups. */
const askAtOnce = 10;
const warningsInHistory = 50;
const patternsInHistory = 50;

export function createCleanupPlanning(client: SandboxClient, results: ResultStore) {
  const nightOf = ({ deployment, policy }: Pick<PlanCleanupInput, 'deployment' | 'policy'>, nowMs: number) => {
    const { workflowId = '' } = activityInfo().workflowExecution ?? {};
    return readNight(Context.current().client, { deployment, policy, workflowId, nowMs });
  };

  return {
    /**
     * Returns why a planned run must not act, or null. Temporal lists new runs with a delay, so call it some time after
     * planning. Safe to repeat.
     */
    async lookAtOtherCleanups(input: LookAtOthersInput): Promise<string | null> {
      const { otherRun, ended } = await nightOf(input, Date.now());
      if (otherRun !== null) return `${otherRun} is not finished`;
      return ended > input.takenTonight ? 'another run has ended since this one was planned' : null;
    },

    /** Creates the plan of a cleanup; changes nothing. Safe to repeat: the last plan counts. */
    planCleanup: (input: PlanCleanupInput): Promise<CleanupPlanned> =>
      repeatable(async (attempt) => {
        const { policy } = input;
        const readSinceMs = Date.now();
        const { candidates, unreadable } = await readCandidates(client, attempt, input);
        const { snapshots, rowsLeftOut } = await readSnapshots(client, attempt, policy);
        const nowMs = Date.now();
        const night = await nightOf(input, nowMs);
        const plan = planCleanup({
          policy,
          nowMs,
          candidates,
          snapshots,
          takenTonight: night.taken,
          fleetTonight: night.fleet,
        });
        const refusal = refusalOf(policy, { plan, nowMs, otherRun: night.otherRun });
        return keep(results, input, plan, { refusal, readSinceMs, unreadable: unreadable + rowsLeftOut });
      }),
  };
}

/** Why nothing of the plan may be done now. */
function refusalOf(
  policy: CleanupPolicy,
  { plan, nowMs, otherRun }: { readonly plan: CleanupPlan; readonly nowMs: number; readonly otherRun: string | null },
): CleanupPlanned['refusal'] {
  if (!isWindowOpen(policy, nowMs)) {
    return { outcome: 'outside_window', why: `cleanups may act ${windowsText(policy)}` };
  }
  if (otherRun !== null) return { outcome: 'another_run', why: `${otherRun} is not finished` };
  const unprotected = unprotectedProblem(policy, plan);
  return unprotected === null ? null : { outcome: 'protects_nothing', why: unprotected };
}

async function readCandidates(
  client: SandboxClient,
  attempt: Attempt,
  { policy, deployment }: PlanCleanupInput,
): Promise<{ readonly candidates: readonly Candidate[]; readonly unreadable: number }> {
  const needsCost = policy.rules.some(({ match }) => match.costAboveDollars !== null);
  const query = needsCost ? ({ include: 'cost' } as const) : {};
  let unreadable = 0;
  const onRowsLeftOut = (rows: number) => {
    unreadable += rows;
  };
  const sandboxes = await attempt.call((signal) => client.listAllSandboxes(query, { signal, onRowsLeftOut }));
  const ownerOf = await createOwnerLookup(attempt, sandboxes, deployment);
  const candidates: Candidate[] = [];
  const left = sandboxes.map(factsOf);
  const ask = async () => {
    for (let facts = left.pop(); facts; facts = left.pop()) {
      attempt.signal.throwIfAborted();
      candidates.push({ facts, owner: await ownerOf(facts), ...(await withFollower(policy, facts)) });
    }
  };
  await Promise.all(Array.from({ length: askAtOnce }, ask));
  return { candidates, unreadable };
}

/** Looks up the owners of these sandboxes, with what is known of them all. */
async function createOwnerLookup(attempt: Attempt, sandboxes: readonly Sandbox[], deployment: string) {
  const { client } = Context.current();
  const lastEnds = await readLastEnds(client, { signal: attempt.signal });
  const bearers = new Map<string, number>();
  for (const { name, state } of sandboxes) {
    if (name != null && state !== 'cancelled') bearers.set(name, (bearers.get(name) ?? 0) + 1);
  }
  const ownerOf = createOwnerReader(client, deployment);
  return ({ id, name }: Pick<SandboxFacts, 'id' | 'name'>) => {
    const end = lastEnds.get(id);
    const hasNamesake = (bearers.get(name ?? '') ?? 0) > 1;
    return ownerOf({ id, name }, { ends: end ? [end] : [], hasNamesake });
  };
}

/** Only policies that escalate ask who waits for a failing stop. */
async function withFollower({ rules }: CleanupPolicy, { id, stopFailingSince }: SandboxFacts) {
  if (stopFailingSince === null || !rules.some(({ action }) => action === 'escalate')) return {};
  return { follower: await followerOf(Context.current().client, id) };
}

/** Reads the complete snapshots, by sandbox. */
async function readSnapshots(
  client: SandboxClient,
  attempt: Attempt,
  policy: CleanupPolicy,
): Promise<{ readonly snapshots: Map<string, SnapshotFacts[]>; readonly rowsLeftOut: number }> {
  const found = new Map<string, SnapshotFacts[]>();
  if (!policy.rules.some(({ action }) => action === 'delete-snapshot')) return { snapshots: found, rowsLeftOut: 0 };
  let rowsLeftOut = 0;
  const onRowsLeftOut = (rows: number) => {
    rowsLeftOut = rows;
  };
  const { snapshots } = await attempt.call((signal) => client.listSnapshots({ signal, onRowsLeftOut }));
  for (const snapshot of snapshots) {
    if (snapshot.sandboxId == null || (snapshot.status ?? 'completed') !== 'completed') continue;
    const { id, name = null, createdAt = null } = snapshot;
    addByKey(found, snapshot.sandboxId, { id, name, createdAt });
  }
  return { snapshots: found, rowsLeftOut };
}

async function keep(
  results: ResultStore,
  { key, policy, deployment, chunkSize }: PlanCleanupInput,
  plan: CleanupPlan,
  {
    refusal,
    readSinceMs,
    unreadable,
  }: Pick<CleanupPlanned, 'refusal' | 'unreadable'> & Pick<CleanupChunk, 'readSinceMs'>,
): Promise<CleanupPlanned> {
  const { fleet, allowed, takenTonight, limitProblem, unmatched, entries, actions, warnings } = plan;
  const put = async (name: string, value: unknown) =>
    (await results.put(`${key}/${name}.json`, Buffer.from(JSON.stringify(value)))).ref;
  const planRef = await put('plan', plan);
  const chunks: { ref: string; count: number }[] = [];
  for (let from = 0; refusal === null && from < actions.length; from += chunkSize) {
    const some = actions.slice(from, from + chunkSize);
    const chunk: CleanupChunk = { deployment, policy, allowed, readSinceMs, actions: some };
    chunks.push({ ref: await put(`actions-${chunks.length}`, chunk), count: chunk.actions.length });
  }
  return {
    planRef,
    chunks,
    fleet,
    allowed,
    takenTonight,
    due: actions.length,
    overLimit: entries.filter(({ reason }) => reason === 'over_limit').length,
    limitProblem,
    unmatched: unmatched.slice(0, patternsInHistory),
    unmatchedCount: unmatched.length,
    orphans: entries.filter(({ owner }) => owner.status === 'closed').length,
    unknownOwners: entries.filter(({ owner }) => owner.status === 'unknown').length,
    unreadable,
    warnings: warnings.slice(0, warningsInHistory),
    warningCount: warnings.length,
    refusal,
  };
}
