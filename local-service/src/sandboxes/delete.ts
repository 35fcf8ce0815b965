/** Permanent deletion: it is accepted at once, runs in the background, and cannot be cancelled. */

import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { newDeletionId } from '../core/ids.js';
import { sandboxNotFound } from '../service-error.js';
import { snapshotsInUse } from '../snapshots/remove-data.js';
import type { DeletionRecord } from '../store/sandbox-store.js';
import type { Work } from '../store/work-store.js';

/** A deletion operation as the service shows it: of a sandbox, or of a snapshot. */
export function deletionView(deletion: DeletionRecord): Readonly<Record<string, unknown>> {
  const { id, sandboxId, snapshotId, status, requestedAt, completedAt, error } = deletion;
  const subject = snapshotId === null ? { sandboxId } : { snapshotId };
  return { id, ...subject, status, requestedAt, completedAt, error };
}

/** The fields of the answer to a deletion. */
export function deletionStarted(deletion: DeletionRecord): Readonly<Record<string, unknown>> {
  return { operationId: deletion.id, operation: deletionView(deletion) };
}

/**
 * Accepts the deletion of a sandbox, or returns the deletion that is under way. From then on the sandbox is not found.
 */
export function deleteSandbox(context: Context, sandboxId: string): DeletionRecord {
  const { stores } = context;
  const underWay = stores.deletions.openOf(sandboxId);
  if (underWay) return underWay;
  const sandbox = stores.sandboxes.get(sandboxId);
  if (!sandbox) throw sandboxNotFound(sandboxId);
  return context.database.transaction(() => {
    context.prompts.interrupt(sandboxId);
    const settled = stores.sandboxes.get(sandboxId) ?? sandbox;
    const deletion: DeletionRecord = {
      id: newDeletionId(),
      sandboxId,
      snapshotId: null,
      status: 'pending',
      requestedAt: context.clock.iso(),
      completedAt: null,
      error: null,
    };
    stores.deletions.put(deletion);
    changeSandbox(context, settled, { gone: 'deleting', archiveAfter: null, epoch: settled.epoch + 1 });
    stores.work.cancelAll(sandboxId);
    context.schedule('delete', sandboxId, deletion.id, context.clock.now() + context.timings.deleteMs);
    return deletion;
  });
}

/** The work `delete`. */
export async function executeDeletion(context: Context, { subject, token }: Work): Promise<void> {
  const { stores, host, locks } = context;
  const deletion = stores.deletions.get(token);
  if (!deletion || deletion.status === 'completed') return;
  if (deletion.status === 'pending') stores.deletions.put({ ...deletion, status: 'running' });
  // What holds the lock may wait for the disk.
  await host.endRestore(subject);
  await locks.run(subject, async () => {
    await context.ssh.close(subject);
    await host.deleteDisk(subject);
    const inUse = snapshotsInUse(context);
    for (const { id } of stores.snapshots.of(subject)) {
      // A boot that restores this snapshot deletes it when the boot ends.
      if (!inUse.has(id)) await host.deleteSnapshot(id);
      stores.snapshots.remove(id);
    }
  });
  if (context.closing.aborted) return;
  context.database.transaction(() => {
    stores.samples.remove(subject);
    stores.deletions.put({ ...deletion, status: 'completed', completedAt: context.clock.iso() });
    const sandbox = stores.sandboxes.find(subject);
    if (sandbox) stores.sandboxes.put({ ...sandbox, gone: 'deleted' });
  });
}
