/** One planned action, after everything that speaks against it was asked once more. */
import type { CleanupPolicy, SandboxFacts, Verdict } from '../../src/retention/index.js';
import {
  type ApplyLook,
  judge,
  type Ownership,
  type PlannedAction,
  type SnapshotFacts,
} from '../../src/retention/index.js';
import type { HoldAnswer } from '../../workflows/messages.js';
import type { ClaimOptions } from '../watch.js';

/** What was begun. `gone`: an earlier attempt whose answer was lost, or somebody else, has deleted it. */
export interface AppliedAction {
  readonly number: number;
  readonly sandboxId: string;
  readonly did: 'stopping' | 'deleting' | 'gone' | 'skipped';
  readonly guard: string | null;
  readonly why: string | null;
  /** The stop or the deletion operation; null where the service did not name it. */
  readonly operationId: string | null;
  /** The claim that is still held, to be given back when the deletion has ended; null: none. */
  readonly claim: ClaimOptions | null;
}

/** What became of a call that deletes. `unnamed`: it was accepted, and the service gave no operation to follow it by. */
export type Removal = { readonly operationId: string } | 'unnamed' | 'gone';

/** What an action asks and does: of the service, of Temporal, and of the clock. Null stands for what is not there. */
export interface ActionPorts {
  readonly claim: (sandboxId: string) => Promise<HoldAnswer>;
  /** The claim as it stands right before the act. */
  readonly confirm: (sandboxId: string) => Promise<HoldAnswer>;
  readonly release: (sandboxId: string) => Promise<void>;
  readonly read: (sandboxId: string) => Promise<SandboxFacts | null>;
  /** Those that are complete. */
  readonly snapshotsOf: (sandboxId: string) => Promise<readonly SnapshotFacts[]>;
  readonly ownerOf: (sandbox: Pick<SandboxFacts, 'id' | 'name'>) => Promise<Ownership>;
  readonly nowMs: () => number;
  /** @returns id of the stop */
  readonly stop: (sandboxId: string, previousStopId: string | null) => Promise<string | null>;
  readonly deleteSandbox: (sandboxId: string) => Promise<Removal>;
  readonly deleteSnapshot: (snapshotId: string) => Promise<Removal>;
}

export interface ActionOptions {
  readonly policy: CleanupPolicy;
  /** Actions that the limits of the night allow this run. */
  readonly allowed: number;
  /** True where an earlier attempt may have acted, and its answer was lost. */
  readonly isRepeated: boolean;
  /** What the action claims the sandbox for. */
  readonly wish: ClaimOptions;
  readonly ports: ActionPorts;
  /** Default: all guards; only tests leave some out. */
  readonly verdictOf?: (look: ApplyLook) => Verdict;
}

/**
 * Claims, reads, asks whose it is, judges, and only then acts. Nothing comes between the judgement and the call, but that
 * a claim of long ago is asked for once more. The claim of a deletion that was begun is the caller's to give back.
 */
export async function doAction(planned: PlannedAction, options: ActionOptions): Promise<AppliedAction> {
  const { ports, wish, isRepeated, verdictOf = judge } = options;
  const { number, action, snapshotId } = planned;
  const { id: sandboxId, stopId } = planned.facts;
  const answer = { number, sandboxId, guard: null, why: null, operationId: null, claim: null };
  const remove = () => (snapshotId === null ? ports.deleteSandbox(sandboxId) : ports.deleteSnapshot(snapshotId));
  const removed = (removal: Removal): AppliedAction => {
    if (removal === 'gone') return { ...answer, did: 'gone' };
    return { ...answer, did: 'deleting', operationId: removal === 'unnamed' ? null : removal.operationId, claim: wish };
  };
  let isHeld = false;
  try {
    const look = await lookAgain(planned, options);
    if (isRepeated) {
      const earlier = stopOfEarlier(look);
      if (earlier !== null) return { ...answer, did: 'stopping', operationId: earlier };
      // Asking again would name the operation, and would delete unguarded what a faulty answer hides.
      if (isRemoved(look)) return { ...answer, did: 'gone' };
    }
    const verdict = verdictOf(look);
    if (!verdict.isDue) return { ...answer, did: 'skipped', guard: verdict.guard, why: verdict.why };
    const held = await ports.confirm(sandboxId);
    const late = verdictOf({ ...look, claimGranted: held.granted, leasedBy: held.leasedBy });
    if (!late.isDue) return { ...answer, did: 'skipped', guard: late.guard, why: late.why };
    if (action !== 'stop') {
      const begun = removed(await remove());
      isHeld = begun.claim !== null;
      return begun;
    }
    const operationId = await ports.stop(sandboxId, stopId);
    return { ...answer, did: operationId === null ? 'gone' : 'stopping', operationId };
  } finally {
    // A claim expires by itself; what was done must be told all the same.
    if (!isHeld) await ports.release(sandboxId).catch(() => undefined);
  }
}

/** The lease first, since its answer lasts; the owner last, since it may open at any moment. */
async function lookAgain(planned: PlannedAction, { policy, allowed, ports }: ActionOptions): Promise<ApplyLook> {
  const { id, name } = planned.facts;
  const { granted: claimGranted, leasedBy } = await ports.claim(id);
  const missingKeeps: string[] = [];
  for (const kept of planned.keeps) {
    const facts = await ports.read(kept);
    if (facts === null || facts.state === 'cancelled' || facts.dataExpiredAt !== null) missingKeeps.push(kept);
  }
  const snapshots = planned.snapshotId === null ? [] : await ports.snapshotsOf(id);
  const facts = await ports.read(id);
  const owner = await ports.ownerOf({ id, name: facts === null ? name : facts.name });
  const nowMs = ports.nowMs();
  return { policy, planned, nowMs, facts, owner, leasedBy, claimGranted, allowed, missingKeeps, snapshots };
}

/** The stop that an attempt whose answer was lost has begun: it must not read as somebody else's change. */
function stopOfEarlier({ planned, facts }: ApplyLook): string | null {
  if (planned.action !== 'stop' || facts === null || facts.stopId === planned.facts.stopId) return null;
  return facts.state === 'archiving' || facts.state === 'archived' ? facts.stopId : null;
}

function isRemoved({ planned: { action, snapshotId }, facts, snapshots }: ApplyLook): boolean {
  if (action === 'stop') return false;
  return snapshotId === null ? facts === null : !snapshots.some(({ id }) => id === snapshotId);
}
