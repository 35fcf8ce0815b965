/**
 * Snapshots of a usable sandbox at intervals (`timings.snapshotEveryMs`; assumption A-periodic-snapshots). They show in
 * `lastSnapshotStatus`, and change nothing else of the sandbox.
 */
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { newSnapshotId } from '../core/ids.js';
import { reasonOf } from '../log.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Work } from '../store/work-store.js';
import { recordNothingNew, recordSnapshot } from './snapshots.js';

/** The second word of the token while the snapshot takes its time (`timings.snapshotMs`). */
const taking = 'taking';

/** Schedules the next snapshot of a usable sandbox, if it has any; part of the current transaction. */
export function scheduleSnapshot(
  context: Pick<Context, 'timings' | 'schedule' | 'clock'>,
  { id, epoch, snapshots }: SandboxRecord,
  lastMs = context.clock.now(),
): void {
  const { snapshotEveryMs } = context.timings;
  if (snapshots && snapshotEveryMs > 0) context.schedule('snapshot', id, String(epoch), lastMs + snapshotEveryMs);
}

/** Schedules the snapshots of all usable sandboxes when the service starts, because its settings may have changed. */
export function scheduleSnapshots(context: Context): void {
  for (const sandbox of context.stores.sandboxes.living()) {
    if (!isUsable(sandbox.state) || sandbox.pendingSnapshotId !== null) continue;
    scheduleSnapshot(context, sandbox, Date.parse(sandbox.lastSnapshotAttemptAt ?? sandbox.createdAt));
  }
}

/** The work `snapshot`: saves a usable sandbox, and schedules the next time. A failure waits for the next time. */
export async function periodicSnapshot(context: Context, { subject, token }: Work): Promise<void> {
  const [epoch, step] = token.split(' ');
  const { stores, timings, clock } = context;
  const current = (): SandboxRecord | undefined => {
    const sandbox = stores.sandboxes.get(subject);
    return sandbox && isUsable(sandbox.state) && String(sandbox.epoch) === epoch ? sandbox : undefined;
  };
  const sandbox = current();
  if (!sandbox || timings.snapshotEveryMs === 0) return;
  const snapshotId = sandbox.pendingSnapshotId ?? newSnapshotId();
  if (step !== taking) {
    keep(context, sandbox, {
      pendingSnapshotId: snapshotId,
      lastSnapshotStatus: 'queued',
      lastSnapshotAttemptAt: clock.iso(),
    });
  }
  await context.locks.run(subject, async () => {
    const locked = current();
    if (!locked) return;
    if (step !== taking) {
      keep(context, locked, { lastSnapshotStatus: 'in_progress', lastSnapshotAttemptAt: clock.iso() });
      if (timings.snapshotMs > 0) {
        context.schedule('snapshot', subject, `${epoch} ${taking}`, clock.now() + timings.snapshotMs);
        return;
      }
    }
    const outcome = await save(context, locked, snapshotId);
    if (context.closing.aborted) return;
    const now = current();
    if (!now) {
      // A stop was first, and takes a snapshot of its own.
      await context.host.deleteSnapshot(snapshotId);
      return;
    }
    context.database.transaction(() => {
      keep(context, now, { ...outcome(now), pendingSnapshotId: null });
      scheduleSnapshot(context, now);
    });
  });
}

/** Takes the snapshot. @returns the change of the record, made in the transaction of the caller */
async function save(
  context: Context,
  sandbox: SandboxRecord,
  snapshotId: string,
): Promise<(now: SandboxRecord) => Partial<SandboxRecord>> {
  const { host, clock, faults } = context;
  const createdAt = clock.iso();
  try {
    if (faults.take('snapshot_fails')) throw new Error('The snapshot failed.');
    const { sizeBytes } = await host.takeSnapshot(sandbox.id, snapshotId);
    if (sandbox.snapshotId !== null && (await host.isSameSnapshot(snapshotId, sandbox.snapshotId))) {
      await host.deleteSnapshot(snapshotId);
      return (now) => recordNothingNew(context, now);
    }
    return (now) => recordSnapshot(context, now, { snapshotId, sizeBytes, createdAt });
  } catch (cause) {
    context.log('a snapshot failed', { sandboxId: sandbox.id, reason: reasonOf(cause) });
    return () => ({ lastSnapshotStatus: 'failed', lastSnapshotAttemptAt: clock.iso() });
  }
}

/** Stores a change that is not one of the sandbox's work, so `updatedAt` stays. */
function keep(context: Context, sandbox: SandboxRecord, change: Partial<SandboxRecord>): void {
  changeSandbox(context, sandbox, { ...change, updatedAt: sandbox.updatedAt });
}
