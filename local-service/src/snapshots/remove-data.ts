/** Removes snapshot data that nobody needs any more. While a boot restores from a snapshot, its data stays. */

import { assume } from '../core/assume.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { newDeletionId } from '../core/ids.js';
import type { DeletionRecord } from '../store/sandbox-store.js';
import type { SnapshotRecord } from '../store/snapshot-store.js';
import type { Work } from '../store/work-store.js';

/** The ids of snapshots that are being restored, or that a failed boot has yet to restore. */
export function snapshotsInUse({ stores }: Context): ReadonlySet<string> {
  const inUse = new Set<string>();
  for (const { restoreFrom, copyingFrom } of stores.sandboxes.living()) {
    for (const snapshotId of [restoreFrom, copyingFrom]) if (snapshotId !== null) inUse.add(snapshotId);
  }
  return inUse;
}

/**
 * Accepts the deletion of a snapshot, or returns the deletion that is under way. The snapshot is no longer found from
 * now on. If it was the sandbox's latest snapshot, the previous one takes its place, if there is one.
 */
export function deleteSnapshot(context: Context, snapshot: SnapshotRecord): DeletionRecord {
  const { stores, clock, timings } = context;
  const underWay = stores.deletions.openOfSnapshot(snapshot.id);
  if (underWay) return underWay;
  return context.database.transaction(() => {
    const deletion: DeletionRecord = {
      id: newDeletionId(),
      sandboxId: snapshot.sandboxId,
      snapshotId: snapshot.id,
      status: 'pending',
      requestedAt: clock.iso(),
      completedAt: null,
      error: null,
    };
    stores.deletions.put(deletion);
    stores.snapshots.markDeleted(snapshot.id);
    const sandbox = stores.sandboxes.get(snapshot.sandboxId);
    if (sandbox?.snapshotId === snapshot.id) {
      const previous = stores.snapshots.of(sandbox.id).findLast(({ expired }) => !expired);
      const latest = previous && assume('A-snapshot-before') ? previous : undefined;
      changeSandbox(context, sandbox, {
        snapshotId: latest?.id ?? null,
        snapshotCompletedAt: latest?.completedAt ?? null,
        snapshotVerifiedAt: null,
      });
    }
    context.schedule('drop_snapshot', snapshot.id, '', clock.now() + timings.deleteMs);
    return deletion;
  });
}

/**
 * Does the work `drop_snapshot`: removes a snapshot if it is no longer needed. It is repeated when the last boot that
 * restores the snapshot ends.
 */
export async function dropSnapshot(context: Context, { subject }: Work): Promise<void> {
  const { stores, host } = context;
  const deletion = stores.deletions.openOfSnapshot(subject);
  if (deletion?.status === 'pending') stores.deletions.put({ ...deletion, status: 'running' });
  if (snapshotsInUse(context).has(subject)) return;
  const snapshot = stores.snapshots.get(subject);
  if (snapshot && !snapshot.deleted && !snapshot.expired) {
    removeForkCopies(context, snapshot.sandboxId);
    return;
  }
  await host.deleteSnapshot(subject);
  if (context.closing.aborted) return;
  context.database.transaction(() => {
    if (snapshot?.deleted) stores.snapshots.remove(subject);
    if (deletion) stores.deletions.put({ ...deletion, status: 'completed', completedAt: context.clock.iso() });
  });
}

/**
 * Removes the copies of a sandbox's disk that forks were made of, except the sandbox's newest snapshot, those with a
 * name, and those that a boot restores now. All other snapshots stay until they are deleted or expire.
 */
export function removeForkCopies(context: Context, sandboxId: string): void {
  const { stores, clock } = context;
  const sandbox = stores.sandboxes.get(sandboxId);
  const copies = sandbox?.forkCopyIds ?? [];
  if (!sandbox || copies.length === 0) return;
  const inUse = snapshotsInUse(context);
  const unneeded = stores.snapshots
    .of(sandboxId)
    .slice(0, -1)
    .filter(({ id, name }) => copies.includes(id) && name === null && !inUse.has(id))
    .map(({ id }) => id);
  if (unneeded.length === 0) return;
  context.database.transaction(() => {
    for (const id of unneeded) {
      stores.snapshots.markDeleted(id);
      context.schedule('drop_snapshot', id, '', clock.now());
    }
    const forkCopyIds = copies.filter((id) => !unneeded.includes(id));
    changeSandbox(context, sandbox, { forkCopyIds, updatedAt: sandbox.updatedAt });
  });
}
