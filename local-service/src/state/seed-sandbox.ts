/**
 * Stores the record of a seeded sandbox and its scheduled work. Sends no event, since nothing has happened to the
 * sandbox.
 */

import { changeSandbox, freshArchiveAfter } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { newStopId, subdomainOf } from '../core/ids.js';
import { scheduleBoot } from '../sandboxes/boot.js';
import { newSandbox } from '../sandboxes/new-record.js';
import { scheduleSnapshot } from '../snapshots/periodic.js';
import type { SandboxRecord, StopRecord } from '../store/sandbox-record.js';
import type { SeededDisk } from './seed-disks.js';

/** Stores a seeded sandbox; part of the current transaction. */
export function putSandbox(context: Context, accountId: string, disk: SeededDisk): SandboxRecord {
  const { sandboxId: id, seed } = disk;
  const caller = { accountId, kind: 'api_key', keyId: null, credentialId: null, scope: null } as const;
  const { name, type, ttlSeconds, environment, noEnv } = seed;
  const accepted: SandboxRecord = {
    ...newSandbox(context, { name, type, ttlSeconds, environment, noEnv }, { caller, restoreFrom: null }),
    id,
    name,
    subdomain: subdomainOf(id),
    createdAt: seed.createdAt ?? context.clock.iso(),
    fate: null,
  };
  context.stores.sandboxes.put(accepted);
  putSnapshots(context, accepted, disk);
  switch (seed.state) {
    case 'init':
      scheduleBoot(context, accepted);
      return accepted;
    case 'provisioning':
      return booting(context, accepted);
    case 'error':
      return change(context, accepted, { state: 'error', error: seed.error ?? 'The machine does not answer.' });
    case 'cancelled':
      return change(context, accepted, {
        state: 'cancelled',
        error: seed.error ?? 'No machine could be obtained for this sandbox.',
        archiveAfter: null,
        gone: 'cancelled',
      });
    case 'archived':
      return archived(context, accepted, disk);
    default:
      return usable(context, accepted, seed.state);
  }
}

function change(context: Context, before: SandboxRecord, to: Partial<SandboxRecord>): SandboxRecord {
  return changeSandbox({ ...context, publish: () => undefined }, before, to);
}

function booting(context: Context, accepted: SandboxRecord): SandboxRecord {
  const sandbox = change(context, accepted, { state: 'provisioning' });
  scheduleBoot(context, sandbox);
  return sandbox;
}

function usable(context: Context, accepted: SandboxRecord, state: 'ready' | 'idle'): SandboxRecord {
  const archiveAfter = freshArchiveAfter(context.clock, accepted.ttlSeconds);
  if (archiveAfter !== null) {
    context.schedule('auto_stop', accepted.id, String(accepted.epoch), Date.parse(archiveAfter));
  }
  scheduleSnapshot(context, accepted);
  return change(context, accepted, { state, archiveAfter });
}

function putSnapshots(context: Context, { id, ownerId }: SandboxRecord, { seed, snapshots }: SeededDisk): void {
  const at = seed.archivedAt ?? context.clock.iso();
  for (const { id: snapshotId, name, sizeBytes } of snapshots) {
    context.stores.snapshots.add({ id: snapshotId, sandboxId: id, ownerId, sizeBytes, createdAt: at, completedAt: at });
    if (name !== null) context.stores.snapshots.rename(snapshotId, name);
  }
}

function archived(context: Context, accepted: SandboxRecord, { seed, snapshots }: SeededDisk): SandboxRecord {
  const { clock, timings, stores } = context;
  const at = seed.archivedAt ?? clock.iso();
  const stop: StopRecord = {
    id: newStopId(),
    status: 'completed',
    requestedAt: at,
    lastAttemptAt: at,
    error: null,
    endedAt: at,
  };
  stores.stops.put(accepted.id, stop);
  context.schedule('expire_data', accepted.id, String(accepted.epoch), Date.parse(at) + timings.dataExpiryMs);
  return change(context, accepted, {
    state: 'archived',
    archiveAfter: null,
    stop,
    snapshotId: snapshots.at(-1)?.id ?? null,
    snapshotCompletedAt: at,
    lastSnapshotAttemptAt: at,
    lastSnapshotStatus: 'completed',
  });
}
