/**
 * Every change of a sandbox's state is made here, so that no event is missed (specification, "States and transitions"):
 *
 *     not usable -> usable    sandbox.ready        (trap S1: running -> idle is usable -> usable, so it sends no event)
 *     any -> error            sandbox.error
 *     any -> archived         sandbox.archived
 *     hydrated turns true     sandbox.hydrated
 */
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { Clock } from '../clock.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Core } from './context.js';
import { meterAfter } from './cost.js';
import { hasSshPort } from './machine-states.js';

/**
 * Stores a change and its events, in the current transaction or in a new one.
 * @param change `updatedAt` is now, unless it is given: the service's own records are no change that a user sees
 */
export function changeSandbox(
  core: Pick<Core, 'database' | 'stores' | 'publish' | 'clock' | 'schedule'>,
  before: SandboxRecord,
  change: Partial<Omit<SandboxRecord, 'id' | 'createdAt' | 'meter'>>,
): SandboxRecord {
  return core.database.transaction(() => {
    const now = new Date(core.clock.now());
    const updatedAt = change.updatedAt ?? now.toISOString();
    const changed = withoutMachine(withoutTeammates(before, { ...before, ...change, updatedAt }));
    const after = { ...changed, meter: meterAfter(before, changed, now) };
    core.stores.sandboxes.put(after);
    if (after.state !== before.state) {
      if (isUsable(after.state) && !isUsable(before.state)) core.publish('sandbox.ready', after, before.state);
      if (after.state === 'error') core.publish('sandbox.error', after, before.state);
      if (after.state === 'archived') core.publish('sandbox.archived', after, before.state);
    }
    if (after.hydrated && !before.hydrated) core.publish('sandbox.hydrated', after);
    if (sshChanges(before, after)) core.schedule('ssh', after.id, '', now.getTime());
    // When the sandbox has restored the snapshot, perhaps nobody needs it any more.
    for (const snapshotId of [before.restoreFrom, before.copyingFrom]) {
      const isNeeded = after.gone === null && [after.restoreFrom, after.copyingFrom].includes(snapshotId);
      if (snapshotId !== null && !isNeeded) core.schedule('drop_snapshot', snapshotId, '', now.getTime());
    }
    return after;
  });
}

/** True if the SSH server of the sandbox may have to open, to close or to change whom it lets in. */
function sshChanges(before: SandboxRecord, after: SandboxRecord): boolean {
  const isOpen = before.sshEndpoint !== null || after.sshEndpoint !== null;
  if (isOpen !== hasSshPort(after)) return true;
  if (before.sshKeys.length === 0 && after.sshKeys.length === 0) return false;
  return (
    before.sshKeys !== after.sshKeys ||
    before.environmentVersionId !== after.environmentVersionId ||
    isUsable(before.state) !== isUsable(after.state) ||
    before.gone !== after.gone
  );
}

/** Removes the SSH keys of teammates when a sandbox is made private (specification, POST …/unshare). */
function withoutTeammates(before: SandboxRecord, after: SandboxRecord): SandboxRecord {
  if (!after.madePrivate || before.madePrivate || after.sshKeys.length === 0) return after;
  return { ...after, sshKeys: after.sshKeys.filter(({ accountId }) => accountId === after.ownerId) };
}

/** Removes the fields that describe a machine once the machine has ended. */
function withoutMachine(sandbox: SandboxRecord): SandboxRecord {
  const degraded = isUsable(sandbox.state) && sandbox.gone === null ? sandbox.degraded : null;
  const sshEndpoint = hasSshPort(sandbox) ? sandbox.sshEndpoint : null;
  if (degraded === sandbox.degraded && sshEndpoint === sandbox.sshEndpoint) return sandbox;
  return { ...sandbox, degraded, sshEndpoint };
}

/** When a sandbox stops by itself if its full TTL begins now; null if auto-stop is disabled. */
export function freshArchiveAfter(clock: Clock, ttlSeconds: number | null): string | null {
  return ttlSeconds === null ? null : new Date(clock.now() + ttlSeconds * 1000).toISOString();
}
