/** Archival attempts: a snapshot of the disk, then the disk goes. */
import { reasonOf } from '../log.js';
import type { SandboxRecord, StopRecord } from '../store/sandbox-record.js';
import type { Work } from '../store/work-store.js';
import { changeSandbox } from './change-sandbox.js';
import type { Context } from './context.js';

/** The work `archive`: one attempt. A failed one is repeated until the sandbox is archived (trap S7). */
export function archive(context: Context, work: Work): Promise<void> {
  return context.locks.run(work.subject, () => attempt(context, work));
}

async function attempt(context: Context, { subject, token }: Work): Promise<void> {
  const { stores, host, timings } = context;
  const current = (): SandboxRecord | undefined => {
    const sandbox = stores.sandboxes.get(subject);
    return sandbox && String(sandbox.epoch) === token ? sandbox : undefined;
  };
  const sandbox = current();
  if (sandbox?.state === 'archiving') {
    const snapshotId = sandbox.pendingSnapshotId;
    let sizeBytes = 0;
    try {
      if (context.faults.take('stop_fails')) throw new Error('The machine did not finish its snapshot.');
      await host.endProcesses(subject);
      if (snapshotId !== null) ({ sizeBytes } = await host.takeSnapshot(subject, snapshotId));
    } catch (cause) {
      const now = current();
      if (now?.state !== 'archiving' || context.closing.aborted) return;
      fail(context, now, reasonOf(cause));
      context.schedule('archive', subject, token, context.clock.now() + timings.stopRetryMs);
      return;
    }
    if (context.closing.aborted) return;
    const now = current();
    if (now?.state !== 'archiving') {
      // A resume came first: the stop is superseded and its snapshot belongs to nobody.
      if (snapshotId !== null) await host.deleteSnapshot(snapshotId);
      return;
    }
    complete(context, now, snapshotId, sizeBytes);
  }
  if (current()?.state !== 'archived') return;
  await host.deleteDisk(subject);
  await removeReplacedSnapshots(context, subject);
}

function stopAfterAttempt({ clock }: Context, sandbox: SandboxRecord, change: Partial<StopRecord>): StopRecord | null {
  return sandbox.stop && { ...sandbox.stop, lastAttemptAt: clock.iso(), ...change };
}

function fail(context: Context, sandbox: SandboxRecord, error: string): void {
  const stop = stopAfterAttempt(context, sandbox, { status: 'failing', error });
  context.database.transaction(() => {
    if (stop) context.stores.stops.put(sandbox.id, stop);
    const attempted = sandbox.snapshots
      ? { lastSnapshotStatus: 'failed' as const, lastSnapshotAttemptAt: context.clock.iso() }
      : {};
    changeSandbox(context, sandbox, { stop, ...attempted });
  });
}

function complete(context: Context, sandbox: SandboxRecord, snapshotId: string | null, sizeBytes: number): void {
  const { stores, timings } = context;
  const completedAt = context.clock.iso();
  const stop = stopAfterAttempt(context, sandbox, { status: 'completed', error: null, endedAt: completedAt });
  context.database.transaction(() => {
    if (stop) stores.stops.put(sandbox.id, stop);
    if (snapshotId !== null) {
      stores.snapshots.add({ id: snapshotId, sandboxId: sandbox.id, sizeBytes, completedAt });
      if (sandbox.nextSnapshotName !== null) stores.snapshots.rename(snapshotId, sandbox.nextSnapshotName);
      context.schedule(
        'expire_data',
        sandbox.id,
        String(sandbox.epoch),
        Date.parse(completedAt) + timings.dataExpiryMs,
      );
    }
    const kept = {
      snapshotId,
      pendingSnapshotId: null,
      nextSnapshotName: null,
      snapshotCompletedAt: completedAt,
      lastSnapshotAttemptAt: completedAt,
      lastSnapshotStatus: 'completed' as const,
    };
    changeSandbox(context, sandbox, { state: 'archived', stop, error: null, ...(snapshotId === null ? {} : kept) });
  });
}

/** Keeps the newest snapshot of a sandbox, those with a name, and what a boot of now restores. */
async function removeReplacedSnapshots(context: Context, sandboxId: string): Promise<void> {
  const { stores, host } = context;
  const replaced = stores.snapshots.of(sandboxId).slice(0, -1);
  if (replaced.length === 0) return;
  const restoring = new Set<string>();
  for (const { restoreFrom } of stores.sandboxes.living()) if (restoreFrom !== null) restoring.add(restoreFrom);
  for (const { id, name } of replaced) {
    if (name !== null || restoring.has(id)) continue;
    await host.deleteSnapshot(id);
    stores.snapshots.remove(id);
  }
}

/** The work `expire_data`: what a stopped sandbox has kept is deleted (trap S12). */
export async function expireData(context: Context, { subject, token }: Work): Promise<void> {
  const { stores, host } = context;
  const sandbox = stores.sandboxes.get(subject);
  if (sandbox?.state !== 'archived' || String(sandbox.epoch) !== token || sandbox.dataExpiredAt !== null) return;
  const snapshots = stores.snapshots.of(subject);
  context.database.transaction(() => {
    stores.snapshots.markExpired(subject);
    changeSandbox(context, sandbox, { dataExpiredAt: context.clock.iso(), snapshotId: null });
  });
  for (const { id } of snapshots) await host.deleteSnapshot(id);
}
