/** Archival attempts: take a snapshot of the disk, then delete the disk. */

import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { reasonOf } from '../log.js';
import { MachineError } from '../machine/index.js';
import { keepSample } from '../processes/samples.js';
import { removeForkCopies } from '../snapshots/remove-data.js';
import { recordNothingNew, recordSnapshot } from '../snapshots/snapshots.js';
import type { SandboxRecord, StopRecord } from '../store/sandbox-record.js';
import type { Work } from '../store/work-store.js';

/** The second word of the token while the snapshot takes its time (`timings.snapshotMs`). */
const taking = 'taking';

/** The work `archive`: one attempt. A failed attempt is repeated until the sandbox is archived (trap S7). */
export function archive(context: Context, work: Work): Promise<void> {
  return context.locks.run(work.subject, () => attempt(context, work));
}

async function attempt(context: Context, { subject, token }: Work): Promise<void> {
  const { stores, host, timings, clock } = context;
  const [epoch = '', step] = token.split(' ');
  const current = (): SandboxRecord | undefined => {
    const sandbox = stores.sandboxes.get(subject);
    return sandbox && String(sandbox.epoch) === epoch ? sandbox : undefined;
  };
  const sandbox = current();
  if (sandbox?.state === 'archiving') {
    const snapshotId = sandbox.pendingSnapshotId;
    let snapshot: SnapshotFound = null;
    try {
      if (step !== taking) {
        await endWork(context, sandbox);
        const ended = current();
        if (snapshotId !== null && ended?.state === 'archiving') {
          changeSandbox(context, ended, { lastSnapshotStatus: 'in_progress', lastSnapshotAttemptAt: clock.iso() });
          if (timings.snapshotMs > 0) {
            context.schedule('archive', subject, `${epoch} ${taking}`, clock.now() + timings.snapshotMs);
            return;
          }
        }
      }
      if (snapshotId !== null) snapshot = await takeSnapshot(context, current, snapshotId);
    } catch (cause) {
      const now = current();
      if (now?.state !== 'archiving' || context.closing.aborted) return;
      fail(context, now, reasonOf(cause));
      context.schedule('archive', subject, epoch, clock.now() + timings.stopRetryMs);
      return;
    }
    if (context.closing.aborted) return;
    const now = current();
    if (now?.state !== 'archiving') {
      // A resume was first: the stop is superseded, and its snapshot is not needed.
      if (snapshotId !== null) await host.deleteSnapshot(snapshotId);
      return;
    }
    complete(context, now, snapshot);
  }
  if (current()?.state !== 'archived') return;
  await host.deleteDisk(subject);
  removeForkCopies(context, subject);
}

/**
 * Ends everything that runs in the sandbox, before its snapshot. A retry of a failing stop is pending again (stop status
 * moves: `failing` and back to `pending`).
 * @throws Error if a fault makes the attempt fail
 */
async function endWork(context: Context, sandbox: SandboxRecord): Promise<void> {
  const { host, faults, stores, prompts, ssh } = context;
  const { id, stop } = sandbox;
  if (faults.takeForStop(id, stop?.id)) throw new Error('The machine did not finish its snapshot.');
  if (stop?.status === 'failing') {
    const pending: StopRecord = { ...stop, status: 'pending', error: null };
    context.database.transaction(() => {
      prompts.interrupt(id);
      stores.stops.put(id, pending);
      changeSandbox(context, sandbox, { stop: pending });
    });
  }
  if (stop?.lastAttemptAt === null) await sampleAtStop(context, sandbox);
  await ssh.close(id);
  await host.endProcesses(id);
}

/** Null if nothing is kept. */
type SnapshotFound =
  | { readonly snapshotId: string; readonly sizeBytes: number; readonly createdAt: string }
  | 'unchanged'
  | null;

/** Takes the snapshot. Without a disk, there is nothing to keep. */
async function takeSnapshot(
  context: Context,
  current: () => SandboxRecord | undefined,
  snapshotId: string,
): Promise<SnapshotFound> {
  const { host, faults, clock } = context;
  const sandbox = current();
  // A resume was first.
  if (sandbox?.state !== 'archiving') return null;
  if (sandbox.snapshotId !== null && faults.take('snapshot_unchanged')) return 'unchanged';
  const createdAt = clock.iso();
  try {
    // Without its disk, the snapshot would miss what the sandbox was restored from.
    const unsavedId = unsavedFrom(sandbox);
    if (unsavedId !== null) await host.continueRestore(sandbox.id, unsavedId);
    const { sizeBytes } = await host.takeSnapshot(sandbox.id, snapshotId);
    return { snapshotId, sizeBytes, createdAt };
  } catch (cause) {
    if (cause instanceof MachineError && cause.code === 'no_disk') return null;
    throw cause;
  }
}

/**
 * The snapshot whose files are perhaps not on the disk yet, and in no snapshot of the sandbox either. Without its disk,
 * a sandbox that failed to restore its own snapshot loses nothing.
 */
function unsavedFrom({ copyingFrom, restoreFrom, snapshotId }: SandboxRecord): string | null {
  return copyingFrom ?? (restoreFrom === snapshotId ? null : restoreFrom);
}

/** Takes the last sample of the processes. The stop continues even if the sample fails. */
async function sampleAtStop(context: Context, sandbox: SandboxRecord): Promise<void> {
  try {
    await keepSample(context, sandbox, { atStop: true });
  } catch (cause) {
    context.log('the processes of a sandbox could not be sampled', { sandboxId: sandbox.id, reason: reasonOf(cause) });
  }
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

function complete(context: Context, sandbox: SandboxRecord, snapshot: SnapshotFound): void {
  const { stores, timings } = context;
  const completedAt = context.clock.iso();
  const stop = stopAfterAttempt(context, sandbox, { status: 'completed', error: null, endedAt: completedAt });
  context.database.transaction(() => {
    if (stop) stores.stops.put(sandbox.id, stop);
    const kept = recorded(context, sandbox, snapshot);
    if (kept.snapshotId !== null) {
      context.schedule(
        'expire_data',
        sandbox.id,
        String(sandbox.epoch),
        Date.parse(completedAt) + timings.dataExpiryMs,
      );
    }
    const ended = { state: 'archived', stop, pendingSnapshotId: null, restoreFrom: null, copyingFrom: null } as const;
    changeSandbox(context, sandbox, { ...ended, ...kept });
  });
}

function recorded(context: Context, sandbox: SandboxRecord, snapshot: SnapshotFound) {
  if (snapshot === 'unchanged') return recordNothingNew(context, sandbox);
  if (snapshot) return recordSnapshot(context, sandbox, snapshot);
  const status = sandbox.snapshots ? ({ lastSnapshotStatus: 'cancelled' } as const) : {};
  return { snapshotId: sandbox.snapshotId, ...status };
}

/** The work `expire_data`: deletes the data that a stopped sandbox has kept (trap S12). */
export function expireData(context: Context, { subject, token }: Work): void {
  const { stores, clock } = context;
  const sandbox = stores.sandboxes.get(subject);
  if (sandbox?.state !== 'archived' || String(sandbox.epoch) !== token || sandbox.dataExpiredAt !== null) return;
  const snapshots = stores.snapshots.of(subject);
  context.database.transaction(() => {
    stores.snapshots.markExpired(subject);
    for (const { id } of snapshots) context.schedule('drop_snapshot', id, '', clock.now());
    changeSandbox(context, sandbox, { dataExpiredAt: clock.iso(), snapshotId: null });
  });
}
