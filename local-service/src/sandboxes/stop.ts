/**
 * Stops (specification, "StopOperation"):
 *
 *     pending ──► completed
 *        │ ▲
 *        ▼ │ retry
 *     failing          pending, failing ──► superseded, by a resume
 */
import { isCreating, isUsable } from '../../../src/contract/workflow-safe/states.js';
import { assume } from '../core/assume.js';
import { changeSandbox, freshArchiveAfter } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { newSnapshotId, newStopId } from '../core/ids.js';
import { ServiceError } from '../service-error.js';
import type { SandboxRecord, StopRecord } from '../store/sandbox-record.js';
import type { Work } from '../store/work-store.js';

/**
 * Stops a sandbox. If it is archived or being archived already, returns its existing stop.
 * @throws ServiceError `machine_not_running` in a creating state (assumption)
 */
export function stopSandbox(context: Context, sandbox: SandboxRecord): StopRecord {
  if (isCreating(sandbox.state)) {
    assume('A-stop-states');
    throw new ServiceError(400, 'machine_not_running', 'The sandbox is still being created. Wait until it is ready.');
  }
  if ((sandbox.state === 'archiving' || sandbox.state === 'archived') && sandbox.stop) return sandbox.stop;
  if (sandbox.state === 'error' || !sandbox.snapshots) assume('A-stop-states');
  return beginStop(context, sandbox, 'The sandbox was stopped by a request.');
}

/**
 * Begins the stop of a sandbox that is usable or in the state `error`. Its field `error` holds `reason` until a resume.
 */
function beginStop(context: Context, sandbox: SandboxRecord, reason: string): StopRecord {
  const { stores, timings } = context;
  if (sandbox.snapshots) assume('A-snapshot-status');
  return context.database.transaction(() => {
    context.prompts.interrupt(sandbox.id);
    const settled = stores.sandboxes.get(sandbox.id) ?? sandbox;
    const stop: StopRecord = {
      id: newStopId(),
      status: 'pending',
      requestedAt: context.clock.iso(),
      lastAttemptAt: null,
      error: null,
      endedAt: null,
    };
    const epoch = settled.epoch + 1;
    stores.stops.put(sandbox.id, stop);
    changeSandbox(context, settled, {
      state: 'archiving',
      error: reason,
      stop,
      epoch,
      archiveAfter: null,
      ...(settled.snapshots && {
        pendingSnapshotId: newSnapshotId(),
        lastSnapshotStatus: 'queued',
        lastSnapshotAttemptAt: stop.requestedAt,
      }),
    });
    for (const kind of ['auto_stop', 'hydrate', 'recover', 'snapshot'] as const) stores.work.cancel(kind, sandbox.id);
    context.schedule('archive', sandbox.id, String(epoch), context.clock.now() + timings.archiveMs);
    return stop;
  });
}

/** The work `auto_stop`: stops a sandbox at `archiveAfter`, unless its agent runs (trap S11). */
export function autoStop(context: Context, { subject, token }: Work): void {
  const sandbox = context.stores.sandboxes.get(subject);
  if (!sandbox || !isUsable(sandbox.state) || sandbox.archiveAfter === null || String(sandbox.epoch) !== token) return;
  const dueAt = Date.parse(sandbox.archiveAfter);
  if (dueAt > context.clock.now()) {
    context.schedule('auto_stop', subject, token, dueAt);
    return;
  }
  if (sandbox.state !== 'running') {
    beginStop(context, sandbox, 'The sandbox stopped by itself when its auto-stop time passed.');
    return;
  }
  const archiveAfter = freshArchiveAfter(context.clock, sandbox.ttlSeconds);
  if (archiveAfter === null) return;
  context.database.transaction(() => {
    changeSandbox(context, sandbox, { archiveAfter });
    context.schedule('auto_stop', subject, token, Date.parse(archiveAfter));
  });
}
