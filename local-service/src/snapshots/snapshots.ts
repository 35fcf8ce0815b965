/** Decides who sees which snapshot, and records complete snapshots (assumptions, "Records"). */

import { type Caller, reachesSandbox, requireAction } from '../access/key-scope.js';
import { type Access, accessOf, sandboxesFor, sandboxFor } from '../access/sandbox-access.js';
import { assume } from '../core/assume.js';
import type { Context } from '../core/context.js';
import { notFound, ServiceError } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { SnapshotRecord } from '../store/snapshot-store.js';

/** A snapshot as the service shows it. Every stored snapshot is complete. */
export function snapshotView(snapshot: SnapshotRecord): Readonly<Record<string, unknown>> {
  const { id, sandboxId, name, sizeBytes, createdAt, completedAt } = snapshot;
  return { id, sandboxId, name, status: 'completed', sizeBytes, createdAt, completedAt };
}

/**
 * Finds a snapshot for a caller who has the needed access to its sandbox. `view` is enough to see that the snapshot
 * exists. Reading or deleting it needs `owner`, because the snapshot may be older than the wipe of its creator's
 * logins.
 * @param options.underDeletion true also finds the snapshot while its deletion is under way
 * @throws ServiceError 404 if the snapshot is gone, unknown, or of a sandbox that the caller may not see
 */
export function snapshotFor(
  context: Context,
  caller: Caller,
  snapshotId: string,
  need: Access,
  { underDeletion = false }: { readonly underDeletion?: boolean } = {},
): SnapshotRecord {
  const snapshot = context.stores.snapshots.get(snapshotId);
  const missing = notFound(`The snapshot ${snapshotId} does not exist.`);
  if (!snapshot || (snapshot.deleted && !underDeletion)) throw missing;
  return withAccess(context, caller, { snapshot, need, missing });
}

/**
 * Finds a snapshot that the caller may restore.
 * @throws ServiceError as `snapshotFor`, and `snapshot_data_expired` if its data was deleted
 */
export function restorableSnapshotFor(context: Context, caller: Caller, snapshotId: string): SnapshotRecord {
  const snapshot = snapshotFor(context, caller, snapshotId, 'owner');
  if (snapshot.expired) {
    throw new ServiceError(409, 'snapshot_data_expired', `The data of the snapshot ${snapshotId} was deleted.`);
  }
  return snapshot;
}

/**
 * Finds the snapshot that a create request names. Snapshots of the caller's own account come first.
 * @throws ServiceError `not_found`, `snapshot_data_expired`, 403 for a key that lacks `snapshot.read` or the sandbox
 */
export function namedSnapshotFor(context: Context, caller: Caller, name: string): SnapshotRecord {
  requireAction(caller, 'snapshot.read');
  const own = ({ ownerId }: SnapshotRecord) => Number(ownerId === caller.accountId);
  const missing = notFound(`A snapshot named "${name}" does not exist.`);
  const candidates = context.stores.snapshots.named(name).sort((a, b) => own(b) - own(a));
  // If the caller's account owns the snapshot but the key does not cover its sandbox, the refusal says so.
  const visible = candidates.find((snapshot) => isVisible(context, caller, snapshot)) ?? candidates.find(own);
  if (!visible) throw missing;
  const snapshot = withAccess(context, caller, { snapshot: visible, need: 'owner', missing });
  if (!snapshot.expired) return snapshot;
  throw new ServiceError(409, 'snapshot_data_expired', `The data of the snapshot named "${name}" was deleted.`);
}

/** Tells whether the caller may see the sandbox of a snapshot, and so may know that the snapshot exists. */
function isVisible(context: Context, { accountId }: Caller, { sandboxId }: SnapshotRecord): boolean {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  return sandbox !== undefined && accessOf(context, accountId, sandbox) !== undefined;
}

/** The snapshots that the caller may see, oldest first. A snapshot without data is no longer listed. */
export function visibleSnapshots(context: Context, caller: Caller): SnapshotRecord[] {
  const showsAll = assume('A-snapshot-access');
  assume('A-snapshots-kept');
  const seen = new Set(sandboxesFor(context, caller).map(({ id }) => id));
  return context.stores.snapshots
    .available()
    .filter(({ sandboxId, ownerId }) => seen.has(sandboxId) && (showsAll || ownerId === caller.accountId));
}

/**
 * Adds a complete snapshot of a sandbox, with the name that was set for the next snapshot. Part of the current
 * transaction.
 * @returns the changes to the sandbox's record
 */
export function recordSnapshot(
  context: Context,
  sandbox: SandboxRecord,
  snapshot: { readonly snapshotId: string; readonly sizeBytes: number; readonly createdAt: string },
): Partial<SandboxRecord> & Pick<SandboxRecord, 'snapshotId'> {
  const { stores, clock } = context;
  const { snapshotId: id, sizeBytes, createdAt } = snapshot;
  const completedAt = clock.iso();
  stores.snapshots.add({ id, sandboxId: sandbox.id, ownerId: sandbox.ownerId, sizeBytes, createdAt, completedAt });
  giveNextName(context, sandbox, id);
  return {
    snapshotId: id,
    nextSnapshotName: null,
    snapshotCompletedAt: completedAt,
    snapshotVerifiedAt: null,
    lastSnapshotAttemptAt: completedAt,
    lastSnapshotStatus: 'completed',
  };
}

/**
 * Records a check that found nothing new since the latest snapshot, in the transaction of the caller. The next name
 * goes to that snapshot.
 */
export function recordNothingNew(
  context: Context,
  sandbox: SandboxRecord,
): Partial<SandboxRecord> & Pick<SandboxRecord, 'snapshotId'> {
  const verifiedAt = context.clock.iso();
  const { snapshotId } = sandbox;
  if (snapshotId !== null) giveNextName(context, sandbox, snapshotId);
  return {
    snapshotId,
    nextSnapshotName: null,
    snapshotVerifiedAt: verifiedAt,
    lastSnapshotAttemptAt: verifiedAt,
    lastSnapshotStatus: 'completed',
  };
}

/** The change of a sandbox whose snapshot ends before it is complete, because a resume or an error was first. */
export function withoutPendingSnapshot({ lastSnapshotStatus: status }: SandboxRecord): Partial<SandboxRecord> {
  const isUnderWay = status === 'queued' || status === 'in_progress';
  return { pendingSnapshotId: null, ...(isUnderWay && { lastSnapshotStatus: 'cancelled' }) };
}

/** The other sandboxes of the account that lose a name when a snapshot of this one gets it. */
export function sandboxesThatLose(
  { stores }: Pick<Context, 'stores'>,
  name: string,
  { id, ownerId }: SandboxRecord,
): SandboxRecord[] {
  return stores.snapshots
    .named(name)
    .filter((snapshot) => snapshot.ownerId === ownerId && snapshot.sandboxId !== id)
    .flatMap(({ sandboxId }) => stores.sandboxes.get(sandboxId) ?? []);
}

/**
 * Gives a snapshot the name that was set for it. Since then, a snapshot may have got the name that the key does not
 * reach: that one keeps it.
 */
function giveNextName(context: Context, sandbox: SandboxRecord, snapshotId: string): void {
  if (sandbox.nextSnapshotName === null) return;
  const { name, scope } = sandbox.nextSnapshotName;
  const kept = sandboxesThatLose(context, name, sandbox).find((other) => !reachesSandbox(scope, other));
  if (!kept) {
    giveName(context, snapshotId, name);
    return;
  }
  const details = { sandboxId: sandbox.id, snapshotId, name, ofSandboxId: kept.id };
  context.log('a snapshot did not get its name, which belongs to a sandbox that the key does not reach', details);
}

/**
 * Moves a name to a snapshot. The snapshot that had the name may no longer be needed. Part of the current transaction.
 */
export function giveName(context: Context, snapshotId: string, name: string): void {
  const { stores, clock } = context;
  const earlier = stores.snapshots.named(name);
  stores.snapshots.rename(snapshotId, name);
  for (const { id } of earlier) context.schedule('drop_snapshot', id, '', clock.now());
}

function withAccess(
  context: Context,
  caller: Caller,
  options: { readonly snapshot: SnapshotRecord; readonly need: Access; readonly missing: ServiceError },
): SnapshotRecord {
  const { snapshot, need, missing } = options;
  assume('A-snapshot-access');
  try {
    sandboxFor(context, caller, snapshot.sandboxId, need);
    return snapshot;
  } catch (cause) {
    // The message of the cause would name a sandbox that the caller may not know of.
    if (cause instanceof ServiceError && cause.status === 404) throw missing;
    throw cause;
  }
}
