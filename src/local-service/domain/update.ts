/** PATCH of a sandbox: its name, its time to live, the name of its snapshot. */
import type { UpdateSandboxBody } from '../../contract/requests.js';
import { isUsable } from '../../contract/states.js';
import { ServiceError, sandboxNotFound } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { changeSandbox, freshArchiveAfter } from './change-sandbox.js';
import type { Context } from './context.js';

/** @throws ServiceError `no_changes` for a body that holds none of the known fields */
export function updateSandbox(context: Context, sandboxId: string, body: UpdateSandboxBody): SandboxRecord {
  const { stores } = context;
  const sandbox = stores.sandboxes.get(sandboxId);
  if (!sandbox) throw sandboxNotFound(sandboxId);
  const { name, ttlSeconds, snapshotName } = body;
  if (name === undefined && ttlSeconds === undefined && snapshotName === undefined) {
    throw new ServiceError(400, 'no_changes', 'Give at least one of name, ttlSeconds and snapshotName.');
  }
  return context.database.transaction(() => {
    let change: Partial<SandboxRecord> = name === undefined ? {} : { name };
    if (ttlSeconds !== undefined) {
      const archiveAfter = freshArchiveAfter(context.clock, ttlSeconds);
      const runs = isUsable(sandbox.state);
      change = { ...change, ttlSeconds, ...(runs ? { archiveAfter } : {}) };
      if (!runs || archiveAfter === null) stores.work.cancel('auto_stop', sandboxId);
      else context.schedule('auto_stop', sandboxId, String(sandbox.epoch), Date.parse(archiveAfter));
    }
    if (snapshotName !== undefined) {
      if (sandbox.snapshotId !== null) stores.snapshots.rename(sandbox.snapshotId, snapshotName);
      else change = { ...change, nextSnapshotName: snapshotName };
    }
    return changeSandbox(context, sandbox, change);
  });
}
