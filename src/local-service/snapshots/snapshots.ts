/** Snapshots: who sees which, and what is written down when one is complete (assumptions, "Records"). */

import { type Caller, requireAction } from '../accounts/key-scope.js';
import { assume } from '../core/assume.js';
import type { Context } from '../core/context.js';
import { accessOf, type Need, sandboxesFor, sandboxFor } from '../sandboxes/access.js';
import { notFound, ServiceError } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { SnapshotRecord } from '../store/snapshot-store.js';

/** A snapshot as the service shows it. Those in the books are complete. */
export function snapshotView(snapshot: SnapshotRecord): Readonly<Record<string, unknown>> {
  const { id, sandboxId, name, sizeBytes, createdAt, completedAt } = snapshot;
  return { id, sandboxId, name, status: 'completed', sizeBytes, createdAt, completedAt };
}

/**
 * The snapshot for a caller who needs this much of its sandbox: `view` to see that it is there, `owner` to read or
 * delete it: it may be older than the wipe of its creator's logins.
 * @param options.underDeletion true finds it, too, while its deletion is under way
 * @throws ServiceError 404 if it is gone, unknown, or of a sandbox that the caller may not see
 */
export function snapshotFor(
  context: Context,
  caller: Caller,
  snapshotId: string,
  need: Need,
  { underDeletion = false }: { readonly underDeletion?: boolean } = {},
): SnapshotRecord {
  const snapshot = context.stores.snapshots.get(snapshotId);
  const missing = notFound(`There is no snapshot ${snapshotId}.`);
  if (!snapshot || (snapshot.deleted && !underDeletion)) throw missing;
  return withAccess(context, caller, { snapshot, need, missing });
}

/** As `snapshotFor`. @throws ServiceError also `snapshot_data_expired` if its data was deleted */
export function restorableSnapshotFor(context: Context, caller: Caller, snapshotId: string): SnapshotRecord {
  const snapshot = snapshotFor(context, caller, snapshotId, 'owner');
  if (snapshot.expired) {
    throw new ServiceError(409, 'snapshot_data_expired', `The data of the snapshot ${snapshotId} was deleted.`);
  }
  return snapshot;
}

/**
 * The snapshot that a create names: of a sandbox of the caller's own account.
 * @throws ServiceError `not_found`, `snapshot_data_expired`, 403 for a key that lacks `snapshot.read` or the sandbox
 */
export function namedSnapshotFor(context: Context, caller: Caller, name: string): SnapshotRecord {
  requireAction(caller, 'snapshot.read');
  const own = ({ ownerId }: SnapshotRecord) => Number(ownerId === caller.accountId);
  const missing = notFound(`There is no snapshot named "${name}".`);
  const candidates = context.stores.snapshots.named(name).sort((a, b) => own(b) - own(a));
  // One that is merely not on the key is refused as such.
  const visible = candidates.find((snapshot) => isVisible(context, caller, snapshot)) ?? candidates.find(own);
  if (!visible) throw missing;
  const snapshot = withAccess(context, caller, { snapshot: visible, need: 'owner', missing });
  if (!snapshot.expired) return snapshot;
  throw new ServiceError(409, 'snapshot_data_expired', `The data of the snapshot named "${name}" was deleted.`);
}

/** Whether the caller may see the sandbox of a snapshot, and so that the snapshot is there. */
function isVisible(context: Context, { accountId }: Caller, { sandboxId }: SnapshotRecord): boolean {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  return sandbox !== undefined && accessOf(context, accountId, sandbox) !== undefined;
}

/** Those that the caller sees, oldest first. One whose data is gone is no longer listed. */
export function visibleSnapshots(context: Context, caller: Caller): SnapshotRecord[] {
  assume('A-snapshot-access');
  const seen = new Set(sandboxesFor(context, caller).map(({ id }) => id));
  return context.stores.snapshots.available().filter(({ sandboxId }) => seen.has(sandboxId));
}

/**
 * Adds a complete snapshot of a sandbox, which takes the name that was waiting for it; part of the current transaction.
 * @returns what it changes on the sandbox
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
  if (sandbox.nextSnapshotName !== null) giveName(context, id, sandbox.nextSnapshotName);
  return {
    snapshotId: id,
    nextSnapshotName: null,
    snapshotCompletedAt: completedAt,
    lastSnapshotAttemptAt: completedAt,
    lastSnapshotStatus: 'completed',
  };
}

/** Moves a name to a snapshot; the one that had it may be needless from here on. Part of the current transaction. */
export function giveName(context: Context, snapshotId: string, name: string): void {
  const { stores, clock } = context;
  const earlier = stores.snapshots.named(name);
  stores.snapshots.rename(snapshotId, name);
  for (const { id } of earlier) context.schedule('drop_snapshot', id, '', clock.now());
}

function withAccess(
  context: Context,
  caller: Caller,
  options: { readonly snapshot: SnapshotRecord; readonly need: Need; readonly missing: ServiceError },
): SnapshotRecord {
  const { snapshot, need, missing } = options;
  assume('A-snapshot-access');
  try {
    sandboxFor(context, caller, snapshot.sandboxId, need);
    return snapshot;
  } catch (cause) {
    // Its message would name a sandbox that is not for the caller to know.
    if (cause instanceof ServiceError && cause.status === 404) throw missing;
    throw cause;
  }
}
