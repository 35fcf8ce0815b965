/** Does one planned action, after everything that speaks against it was asked once more. */
import { Context } from '@temporalio/activity';
import type { SandboxClient } from '../src/client/index.js';
import type { Counted } from '../src/contract/service-failure.js';
import type { ResultStore } from '../src/result-store/index.js';
import { type ApplyLook, factsOf, judge, type PlannedAction, type SnapshotFacts } from '../src/retention/index.js';
import { type Attempt, counted } from './calls.js';
import { askOwner } from './cleanup-owners.js';
import type { CleanupChunk } from './cleanup-plan.js';
import { orNullWhenMissing } from './reads.js';
import { stopSandboxActivity } from './stop-sandbox.js';
import { claimDeletion, releaseClaim } from './watch.js';

export interface ApplyCleanupInput {
  readonly chunkRef: string;
  /** Which action of the chunk. */
  readonly index: number;
}

/** What was begun. `gone`: an earlier attempt, or somebody else, has deleted it. */
export interface AppliedAction {
  readonly number: number;
  readonly sandboxId: string;
  readonly did: 'stopping' | 'deleting' | 'gone' | 'skipped';
  readonly guard: string | null;
  readonly why: string | null;
  /** The stop or the deletion operation. */
  readonly operationId: string | null;
}

export function createCleanupApply(client: SandboxClient, results: ResultStore, taskQueue: string) {
  const stopSandbox = stopSandboxActivity(client);

  /** Nothing may come between the last answer of this and the call that follows it. */
  async function lookAgain(attempt: Attempt, chunk: CleanupChunk, planned: PlannedAction): Promise<ApplyLook> {
    const { id } = planned.facts;
    const { call } = attempt;
    const claim = await claimDeletion(id, taskQueue);
    const missingKeeps: string[] = [];
    for (const kept of planned.keeps) {
      const answer = await orNullWhenMissing(call((signal) => client.getSandbox(kept, { signal })));
      const isThere = answer !== null && answer.sandbox.state !== 'cancelled' && answer.sandbox.dataExpiredAt == null;
      if (!isThere) missingKeeps.push(kept);
    }
    const snapshots = planned.snapshotId === null ? [] : await readSnapshots(attempt, id);
    const sandbox = await orNullWhenMissing(call((signal) => client.getSandbox(id, { signal })));
    const facts = sandbox && factsOf(sandbox.sandbox);
    const { name } = facts ?? planned.facts;
    const owner = await askOwner(Context.current().client, name, chunk.deployment);
    const { policy, allowed } = chunk;
    const { granted: claimGranted, leasedBy } = claim;
    return {
      policy,
      planned,
      nowMs: Date.now(),
      facts,
      owner,
      leasedBy,
      claimGranted,
      allowed,
      missingKeeps,
      snapshots,
    };
  }

  async function readSnapshots(attempt: Attempt, sandboxId: string): Promise<SnapshotFacts[]> {
    const answer = await orNullWhenMissing(
      attempt.call((signal) => client.listSandboxSnapshots(sandboxId, { signal })),
    );
    return (answer?.snapshots ?? [])
      .filter(({ status }) => (status ?? 'completed') === 'completed')
      .map(({ id, name = null, createdAt = null }) => ({ id, name, createdAt }));
  }

  return {
    /**
     * Claims, reads, judges, and only then stops or deletes. Safe to repeat: what an earlier attempt has done is found.
     * @throws as every activity; a sandbox that must not be touched is no error
     */
    async applyCleanup({ chunkRef, index }: ApplyCleanupInput): Promise<Counted<AppliedAction>> {
      const chunk = JSON.parse((await results.get(chunkRef)).toString('utf8')) as CleanupChunk;
      const planned = chunk.actions[index];
      if (!planned) throw new RangeError(`The chunk ${chunkRef} has no action ${index}.`);
      const { number, action, facts, snapshotId } = planned;
      const { id: sandboxId } = facts;
      const answer = { number, sandboxId, guard: null, why: null, operationId: null };
      let stopCalls = 0;
      const { value, calls } = await counted(async (attempt): Promise<AppliedAction> => {
        try {
          const look = await lookAgain(attempt, chunk, planned);
          const earlier = attempt.attempt > 1 ? await doneEarlier(attempt, look) : null;
          if (earlier) return { ...answer, ...earlier };
          const verdict = judge(look);
          if (!verdict.isDue) return { ...answer, did: 'skipped', guard: verdict.guard, why: verdict.why };
          if (action === 'stop') {
            const stopped = await stopSandbox({ sandboxId, previousStopId: facts.stopId });
            stopCalls = stopped.calls;
            if (stopped.value === 'gone') return { ...answer, did: 'gone' };
            return { ...answer, did: 'stopping', operationId: stopped.value.stop.id };
          }
          const operationId = await (snapshotId === null
            ? deleteSandbox(attempt, sandboxId)
            : deleteSnapshot(attempt, snapshotId));
          return { ...answer, did: operationId === null ? 'gone' : 'deleting', operationId };
        } finally {
          await releaseClaim(sandboxId);
        }
      });
      return { value, calls: calls + stopCalls };
    },
  };

  /** What an attempt whose answer was lost has done: it must not read as somebody else's change. */
  async function doneEarlier(attempt: Attempt, { planned, facts, snapshots }: ApplyLook) {
    const { id, stopId } = planned.facts;
    if (planned.action === 'stop') {
      const isStopping = facts !== null && ['archiving', 'archived'].includes(facts.state) && facts.stopId !== stopId;
      return isStopping ? { did: 'stopping' as const, operationId: facts.stopId } : null;
    }
    const isGone = planned.snapshotId === null ? facts === null : !snapshots.some((s) => s.id === planned.snapshotId);
    if (!isGone) return null;
    // Nothing is there to be deleted; a repeated call names the operation where the service still does.
    const operationId = await (planned.snapshotId === null
      ? deleteSandbox(attempt, id)
      : deleteSnapshot(attempt, planned.snapshotId));
    return { did: operationId === null ? ('gone' as const) : ('deleting' as const), operationId };
  }

  async function deleteSandbox({ call }: Attempt, sandboxId: string): Promise<string | null> {
    const answer = await orNullWhenMissing(call((signal) => client.deleteSandbox(sandboxId, { signal })));
    return answer?.operationId ?? null;
  }

  async function deleteSnapshot({ call }: Attempt, snapshotId: string): Promise<string | null> {
    const answer = await orNullWhenMissing(call((signal) => client.deleteSnapshot(snapshotId, { signal })));
    return answer?.operationId ?? null;
  }
}
