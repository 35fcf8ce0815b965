import type { Sandbox, StopOperation } from '../src/contract/records.js';
import type { SandboxView, StopView } from '../src/contract/sandbox-view.js';

/** What a workflow may know of a sandbox: no desktop URL, no machine address. */
export function sandboxView(sandbox: Sandbox): SandboxView {
  return {
    id: sandbox.id,
    name: sandbox.name ?? null,
    state: sandbox.state,
    error: sandbox.error ?? null,
    hydrated: sandbox.hydrated ?? null,
    setupStatus: sandbox.setupStatus ?? null,
    setupError: sandbox.setupError ?? null,
    ttlSeconds: sandbox.ttlSeconds ?? null,
    createdAt: sandbox.createdAt ?? null,
    access: sandbox.access ?? null,
    snapshots: sandbox.snapshots ?? null,
    snapshotAvailable: sandbox.snapshotAvailable ?? null,
    snapshotCompletedAt: sandbox.snapshotCompletedAt ?? null,
    snapshotVerifiedAt: sandbox.snapshotVerifiedAt ?? null,
    lastSnapshotStatus: sandbox.lastSnapshotStatus ?? null,
    dataExpiredAt: sandbox.dataExpiredAt ?? null,
    type: sandbox.type ?? null,
    stop: sandbox.stop ? stopView(sandbox.stop) : null,
  };
}

export function stopView(stop: StopOperation): StopView {
  return {
    id: stop.id,
    status: stop.status,
    requestedAt: stop.requestedAt ?? null,
    lastAttemptAt: stop.lastAttemptAt ?? null,
    error: stop.error ?? null,
  };
}
