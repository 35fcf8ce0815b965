/** A sandbox as the service shows it (specification, "Sandbox"). Made from its record alone; it never touches a disk. */
import type { SandboxRecord, StopRecord } from '../store/sandbox-record.js';
import { machineTypes } from './machine-time.js';

export type SandboxView = Readonly<Record<string, unknown>>;

/** Records are never changed in place, so what was made of one stays right. */
const texts = new WeakMap<SandboxRecord, string>();

/** The JSON of a sandbox, for lists; made once for each record. */
export function sandboxJson(record: SandboxRecord): string {
  let text = texts.get(record);
  if (text === undefined) {
    text = JSON.stringify(sandboxView(record));
    texts.set(record, text);
  }
  return text;
}

/** On the sandbox `requestedAt` is null once the stop has ended; read by id it is kept. */
function stopOnSandbox(stop: StopRecord | null): SandboxView | null {
  return stop && { ...stop, requestedAt: stop.endedAt === null ? stop.requestedAt : null };
}

export function sandboxView(record: SandboxRecord): SandboxView {
  const machine = machineTypes[record.type];
  return {
    id: record.id,
    name: record.name,
    state: record.state,
    error: record.error,
    dataExpiredAt: record.dataExpiredAt,
    health: 'ok',
    healthReason: null,
    degradedSince: null,
    hydrated: record.hydrated,
    hydratedAt: record.hydratedAt,
    hydration: null,
    type: record.type,
    vcpu: machine.vcpu,
    memoryGB: machine.memoryGB,
    billingMultiplier: machine.multiplier,
    machineProvider: null,
    url: null,
    ip: null,
    sshEndpoint: null,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    archiveAfter: record.archiveAfter,
    ttlSeconds: record.ttlSeconds,
    desktopAvailable: false,
    desktopUrl: null,
    snapshots: record.snapshots,
    monitoring: record.monitoring,
    snapshotAvailable: record.snapshotId !== null,
    snapshotCompletedAt: record.snapshotCompletedAt,
    snapshotVerifiedAt: record.snapshotCompletedAt,
    lastSnapshotAttemptAt: record.lastSnapshotAttemptAt,
    lastSnapshotStatus: record.lastSnapshotStatus,
    team: null,
    createdBy: 'local',
    createdById: 'acct_local',
    access: 'owner',
    holdsCreatorLogins: false,
    visibility: null,
    wipePendingUntilRestart: false,
    subdomain: record.subdomain,
    setupStatus: record.setupStatus,
    setupError: record.setupError,
    environment: record.environment,
    environmentVersion: record.environment === null ? null : 1,
    stop: stopOnSandbox(record.stop),
  };
}

/**
 * Restore progress, shown on GET while the copy runs. The disk is there from the start; what is shown is the share of
 * the set time that has passed.
 */
export function hydrationOf(
  record: SandboxRecord,
  { nowMs, hydrationMs }: { readonly nowMs: number; readonly hydrationMs: number },
): SandboxView | null {
  if (record.hydrated || record.hydrationStartedAt === null) return null;
  const passedMs = nowMs - Date.parse(record.hydrationStartedAt);
  const percent = Math.max(0, Math.min(99, Math.floor((100 * passedMs) / hydrationMs)));
  return { phase: 'hydrating', entriesDone: percent, entriesTotal: 100, percent };
}
