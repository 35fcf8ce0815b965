/** PATCH of a sandbox: its name, its time to live, the name of its snapshot. */

import type { UpdateSandboxBody } from '../../../src/contract/requests/sandbox-requests.js';
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { type Caller, requireAction, requireSandboxOnKey } from '../access/key-scope.js';
import { requireAutoStopOfTrial } from '../accounts/billing-status.js';
import { assume } from '../core/assume.js';
import { changeSandbox, freshArchiveAfter } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { ServiceError } from '../service-error.js';
import { giveName, sandboxesThatLose } from '../snapshots/snapshots.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

/**
 * Checks the action of each field. A key that may write snapshots may also name them without `sandbox.update`, because
 * the credential in a sandbox can create snapshots (specification, "Scope").
 * @throws ServiceError 403 `api_key_action_forbidden`
 */
export function requireActionsOfUpdate(caller: Caller, { name, ttlSeconds }: UpdateSandboxBody): void {
  if (name !== undefined || ttlSeconds !== undefined) requireAction(caller, 'sandbox.update');
}

/** @throws ServiceError `no_changes` for a body that holds none of the known fields */
export function updateSandbox(
  context: Context,
  sandbox: SandboxRecord,
  body: UpdateSandboxBody,
  { caller }: { readonly caller: Caller },
): SandboxRecord {
  const { name, ttlSeconds, snapshotName } = body;
  if (name === undefined && ttlSeconds === undefined && snapshotName === undefined) {
    throw new ServiceError(400, 'no_changes', 'Specify at least one of name, ttlSeconds and snapshotName.');
  }
  const isSameTtl = ttlSeconds === sandbox.ttlSeconds;
  if (isSameTtl && context.deviations.has('A-auto-stop-renewal.refused')) {
    throw new ServiceError(400, 'no_changes', 'The sandbox has this auto-stop already.');
  }
  return context.database.transaction(() => {
    let change: Partial<SandboxRecord> = name === undefined ? {} : { name };
    if (ttlSeconds !== undefined && (!isSameTtl || assume('A-auto-stop-renewal'))) {
      requireAutoStopOfTrial(context, sandbox, ttlSeconds);
      const archiveAfter = freshArchiveAfter(context.clock, ttlSeconds);
      const runs = isUsable(sandbox.state);
      change = { ...change, ttlSeconds, ...(runs ? { archiveAfter } : {}) };
      if (!runs || archiveAfter === null) context.stores.work.cancel('auto_stop', sandbox.id);
      else context.schedule('auto_stop', sandbox.id, String(sandbox.epoch), Date.parse(archiveAfter));
    }
    if (snapshotName !== undefined) {
      requireNameMoves(context, caller, sandbox, snapshotName);
      if (sandbox.snapshotId !== null) giveName(context, sandbox.snapshotId, snapshotName);
      else change = { ...change, nextSnapshotName: { name: snapshotName, scope: caller.scope } };
    }
    return changeSandbox(context, sandbox, change);
  });
}

/**
 * Naming a snapshot needs the action `snapshot.write`. Taking the name from another snapshot also needs access to the
 * sandbox of that snapshot (specification, "Scope").
 */
function requireNameMoves(context: Context, caller: Caller, sandbox: SandboxRecord, name: string): void {
  requireAction(caller, 'snapshot.write');
  for (const other of sandboxesThatLose(context, name, sandbox)) requireSandboxOnKey(caller, other);
}
