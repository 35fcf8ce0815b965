import type { Sandbox, StopOperation } from '../src/contract/records/sandbox-records.js';
import type { HydrationView, SandboxView, SharingView, StopView } from '../src/contract/workflow-safe/sandbox-view.js';
import { cut } from '../src/texts/length.js';

/** Limit of texts written by people and scripts, which may have any length. */
const maxLength = 2_000;
/** Limit of texts that should be short: names, addresses, the reason of a degraded machine. */
const maxShortLength = 300;

function short(text: string | null | undefined): string | null {
  return text == null ? null : cut(text, maxLength);
}

/** The fields of a sandbox that workflows receive: no desktop URL, no machine URL. */
export function sandboxView(sandbox: Sandbox): SandboxView {
  return {
    id: sandbox.id,
    name: short(sandbox.name),
    state: sandbox.state,
    error: short(sandbox.error),
    hydrated: sandbox.hydrated ?? null,
    setupStatus: sandbox.setupStatus ?? null,
    setupError: short(sandbox.setupError),
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
    ...whereKnown(sandbox),
    stop: sandbox.stop ? stopView(sandbox.stop) : null,
  };
}

/**
 * Fields that most answers do not have. They are omitted if they are missing, because every read of a sandbox becomes
 * part of a workflow's history.
 */
function whereKnown(sandbox: Sandbox): Partial<SandboxView> {
  const { health, healthReason, degradedSince, archiveAfter, environment, environmentVersion } = sandbox;
  const { visibility, hydration, hydratedAt, sshEndpoint, cost, lastSnapshotAttemptAt } = sandbox;
  const { team, createdBy, createdById, holdsCreatorLogins, wipePendingUntilRestart } = sandbox;
  return {
    ...(health !== undefined && { health }),
    ...(healthReason != null && { healthReason: cut(healthReason, maxShortLength) }),
    ...(degradedSince != null && { degradedSince }),
    ...(archiveAfter != null && { archiveAfter }),
    ...(environment != null && { environment: cut(environment, maxShortLength) }),
    ...(environmentVersion != null && { environmentVersion }),
    ...(visibility != null && { visibility }),
    ...(wipePendingUntilRestart && { wipePendingUntilRestart }),
    ...(holdsCreatorLogins && { holdsCreatorLogins }),
    ...(team && { team: { id: team.id, name: cut(team.name, maxShortLength) } }),
    ...(team && createdBy != null && { createdBy: cut(createdBy, maxShortLength) }),
    ...(team && createdById != null && { createdById }),
    ...(hydration && { hydration: hydrationView(hydration) }),
    ...(hydratedAt != null && { hydratedAt }),
    ...(lastSnapshotAttemptAt != null && { lastSnapshotAttemptAt }),
    ...(sshEndpoint != null && { sshEndpoint: cut(sshEndpoint, maxShortLength) }),
    ...(cost && { cost: { seconds: cost.seconds, dollars: cost.dollars } }),
  };
}

function hydrationView(hydration: NonNullable<Sandbox['hydration']>): HydrationView {
  const { phase, percent, entriesDone, entriesTotal } = hydration;
  return { phase: cut(phase, maxShortLength), percent, entriesDone, entriesTotal };
}

/** The answer to a share or an unshare. */
export function sharingView(answer: { readonly sandbox: Sandbox; readonly message?: string | null }): SharingView {
  return { ...sandboxView(answer.sandbox), message: short(answer.message) };
}

export function stopView(stop: StopOperation): StopView {
  return {
    id: stop.id,
    status: stop.status,
    requestedAt: stop.requestedAt ?? null,
    lastAttemptAt: stop.lastAttemptAt ?? null,
    error: short(stop.error),
    ...(stop.endedAt != null && { endedAt: stop.endedAt }),
  };
}
