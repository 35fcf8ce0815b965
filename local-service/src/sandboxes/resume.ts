/** Resume (specification, "States and transitions"; assumptions, POST …/resume). */

import type { ResumeBody } from '../../../src/contract/requests/sandbox-requests.js';
import { isCreating, isUsable } from '../../../src/contract/workflow-safe/states.js';
import { requireStandingToStart } from '../accounts/billing-status.js';
import { assume } from '../core/assume.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { ServiceError } from '../service-error.js';
import { withoutPendingSnapshot } from '../snapshots/snapshots.js';
import type { SandboxRecord, StopRecord } from '../store/sandbox-record.js';
import { scheduleBoot } from './boot.js';
import { wipeAtStart } from './sharing.js';

/**
 * Restarts a sandbox that is archived, in `error` or being stopped. A stop that is under way is superseded. Does
 * nothing if the sandbox is usable or being created.
 * @throws ServiceError `snapshot_data_expired`; `resume_failed` if the archived sandbox has no snapshot; and as
 *   `requireStandingToStart`
 */
export function resumeSandbox(context: Context, sandbox: SandboxRecord, body: ResumeBody): SandboxRecord {
  if (isUsable(sandbox.state) || isCreating(sandbox.state)) return sandbox;
  if (sandbox.dataExpiredAt !== null) {
    const message = `The data of this sandbox was deleted on ${sandbox.dataExpiredAt}.`;
    throw new ServiceError(409, 'snapshot_data_expired', message);
  }
  const archived = sandbox.state === 'archived';
  if (archived && sandbox.snapshotId === null) {
    throw new ServiceError(409, 'resume_failed', 'The sandbox has no snapshot, so it cannot be resumed.');
  }
  const type = body.type ?? sandbox.type;
  const ttlSeconds = body.ttlSeconds === undefined ? sandbox.ttlSeconds : body.ttlSeconds;
  requireStandingToStart(context, sandbox, { type, ttlSeconds });
  if (sandbox.state === 'archiving') assume('A-failing-stop');
  return context.database.transaction(() => {
    // The machine starts again, and with it ends what was begun while the stop was failing.
    if (!archived) context.prompts.interrupt(sandbox.id);
    const stop = sandbox.state === 'archiving' ? superseded(context, sandbox) : sandbox.stop;
    const restoreFrom = archived ? sandbox.snapshotId : sandbox.restoreFrom;
    const after = changeSandbox(context, sandbox, {
      state: 'provisioning',
      error: null,
      stop,
      restoreFrom,
      ttlSeconds,
      type,
      ...wipeAtStart(context, sandbox),
      hydrated: restoreFrom === null && sandbox.hydrated,
      hydratedAt: restoreFrom === null ? sandbox.hydratedAt : null,
      ...withoutPendingSnapshot(sandbox),
      epoch: sandbox.epoch + 1,
    });
    for (const kind of ['archive', 'expire_data', 'recover'] as const) context.stores.work.cancel(kind, sandbox.id);
    scheduleBoot(context, after);
    return after;
  });
}

function superseded(context: Context, sandbox: SandboxRecord): StopRecord | null {
  if (!sandbox.stop) return null;
  const stop: StopRecord = {
    ...sandbox.stop,
    status: 'superseded',
    error: null,
    endedAt: context.clock.iso(),
  };
  context.stores.stops.put(sandbox.id, stop);
  return stop;
}
