/** Performs one planned action after it has checked all guards again. */

import type { HoldAnswer } from '../../src/protocol/messages.js';
import {
  type ApplyLook,
  type CleanupPolicy,
  judge,
  type Ownership,
  type PlannedAction,
  type SandboxFacts,
  type SnapshotFacts,
  type Verdict,
} from '../../src/retention/index.js';
import type { ClaimOptions } from '../watch.js';

/**
 * The result of the call. `escalating`: the workflow of the sandbox's stops has the request. `gone`: the resource was
 * already deleted, by somebody else or by an earlier attempt whose answer was lost.
 */
export interface AppliedAction {
  readonly number: number;
  readonly sandboxId: string;
  /** The snapshot that the action deletes; null if it concerns the sandbox itself. */
  readonly snapshotId: string | null;
  readonly did: 'stopping' | 'escalating' | 'deleting' | 'gone' | 'skipped';
  readonly guard: string | null;
  readonly why: string | null;
  /** Id of the stop or the deletion operation; null if the service did not return one. */
  readonly operationId: string | null;
  /**
   * The claim that is still held; release it once the workflow waits for the stop, or the deletion has ended. Null if
   * no claim is held, so that no event of the sandbox arrives.
   */
  readonly claim: ClaimOptions | null;
}

/** The outcome of a call that deletes. Null: accepted, but the service returned no operation to follow. */
export type Removal = { readonly operationId: string | null } | 'gone';

/** The reads and calls that an action makes. They return null for a missing resource. */
export interface ActionPorts {
  readonly claim: (sandboxId: string) => Promise<HoldAnswer>;
  /** Confirms the claim right before the call that stops or deletes. */
  readonly confirm: (sandboxId: string) => Promise<HoldAnswer>;
  readonly release: (sandboxId: string) => Promise<void>;
  readonly read: (sandboxId: string) => Promise<SandboxFacts | null>;
  /** The complete snapshots of the sandbox. */
  readonly snapshotsOf: (sandboxId: string) => Promise<readonly SnapshotFacts[]>;
  readonly ownerOf: (sandbox: Pick<SandboxFacts, 'id' | 'name'>) => Promise<Ownership>;
  readonly nowMs: () => number;
  /** @returns id of the stop */
  readonly stop: (sandboxId: string, previousStopId: string | null) => Promise<string | null>;
  /** Hands the failing stop over to the workflow of the sandbox's stops. */
  readonly escalate: (sandboxId: string) => Promise<void>;
  /** True if an earlier attempt has handed it over. */
  readonly isEscalated: (sandboxId: string) => Promise<boolean>;
  readonly deleteSandbox: (sandboxId: string) => Promise<Removal>;
  readonly deleteSnapshot: (snapshotId: string) => Promise<Removal>;
}

export interface ActionOptions {
  readonly policy: CleanupPolicy;
  /** How many actions this run may still perform under the nightly limits. */
  readonly allowed: number;
  /** True if an earlier attempt may have made its call although its answer was lost. */
  readonly isRepeated: boolean;
  /** The purpose of the claim on the sandbox. */
  readonly claimOptions: ClaimOptions;
  readonly ports: ActionPorts;
  /** Default: all guards; only tests leave some out. */
  readonly verdictOf?: (look: ApplyLook) => Verdict;
}

/**
 * Claims the sandbox, reads it, looks up its owner, checks the guards, and only then acts. Between the last read and
 * the call, it only renews an old claim and checks the guards. The caller must release the claim of a started action.
 */
export async function doAction(planned: PlannedAction, options: ActionOptions): Promise<AppliedAction> {
  const { ports, claimOptions, isRepeated, verdictOf = judge } = options;
  const { number, action, snapshotId } = planned;
  const { id: sandboxId, stopId } = planned.facts;
  const answer = { number, sandboxId, snapshotId, guard: null, why: null, operationId: null, claim: null };
  const remove = () => (snapshotId === null ? ports.deleteSandbox(sandboxId) : ports.deleteSnapshot(snapshotId));
  const escalating = { ...answer, did: 'escalating', operationId: stopId } as const;
  if (action === 'escalate' && isRepeated && (await ports.isEscalated(sandboxId))) return escalating;
  let isHeld = false;
  const begun = (did: 'stopping' | 'deleting', operationId: string | null, { claimGranted = true } = {}) => {
    isHeld = claimGranted;
    return { ...answer, did, operationId, claim: claimGranted ? claimOptions : null };
  };
  try {
    const look = await lookAgain(planned, options);
    if (isRepeated) {
      const earlier = stopOfEarlier(look);
      if (earlier !== null) return begun('stopping', earlier, look);
      // Another call would return the operation of the earlier call. But if this read is wrong and the resource still
      // exists, that call would delete it without a check of the guards.
      if (isRemoved(look)) return { ...answer, did: 'gone' };
    }
    const verdict = verdictOf(look);
    if (!verdict.isDue) return { ...answer, did: 'skipped', guard: verdict.guard, why: verdict.why };
    const held = await ports.confirm(sandboxId);
    const late = verdictOf({ ...look, claimGranted: held.granted, leasedBy: held.leasedBy });
    if (!late.isDue) return { ...answer, did: 'skipped', guard: late.guard, why: late.why };
    if (action === 'escalate') {
      await ports.escalate(sandboxId);
      // The claim is released, because that workflow claims the sandbox itself.
      return escalating;
    }
    if (action !== 'stop') {
      const removal = await remove();
      return removal === 'gone' ? { ...answer, did: 'gone' } : begun('deleting', removal.operationId);
    }
    const operationId = await ports.stop(sandboxId, stopId);
    return operationId === null ? { ...answer, did: 'gone' } : begun('stopping', operationId);
  } finally {
    // A failed release is ignored, since a claim expires by itself and the action must still be reported.
    if (!isHeld) await ports.release(sandboxId).catch(() => undefined);
  }
}

/**
 * Checks the leases first, because no new lease is granted while the claim is held. Checks the owner last, because an
 * owner may start at any moment.
 */
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

/**
 * The stop that an earlier attempt started before its answer was lost. It must not count as a change by somebody else.
 */
function stopOfEarlier({ planned, facts }: ApplyLook): string | null {
  if (planned.action !== 'stop' || facts === null || facts.stopId === planned.facts.stopId) return null;
  return facts.state === 'archiving' || facts.state === 'archived' ? facts.stopId : null;
}

function isRemoved({ planned: { action, snapshotId }, facts, snapshots }: ApplyLook): boolean {
  if (action === 'stop' || action === 'escalate') return false;
  return snapshotId === null ? facts === null : !snapshots.some(({ id }) => id === snapshotId);
}
