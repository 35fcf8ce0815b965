/**
 * The facts that a cleanup keeps about a sandbox. They are small and hold no secrets: one plan may cover ten thousand
 * sandboxes.
 */

import type { Sandbox } from '../contract/records/sandbox-records.js';
import { hasFailedAttempt, isUsable } from '../contract/workflow-safe/states.js';
import type { SandboxFacts, Saved } from '../protocol/cleanup-plan.js';
import { isDate } from '../texts/is-date.js';

export function factsOf(sandbox: Sandbox): SandboxFacts {
  const { stop } = sandbox;
  return {
    id: sandbox.id,
    name: sandbox.name ?? null,
    state: sandbox.state,
    access: sandbox.access ?? null,
    createdAt: sandbox.createdAt ?? null,
    updatedAt: sandbox.updatedAt ?? null,
    archiveAfter: sandbox.archiveAfter ?? null,
    environment: sandbox.environment ?? null,
    createdBy: sandbox.createdBy ?? null,
    createdById: sandbox.createdById ?? null,
    dollars: sandbox.cost?.dollars ?? null,
    stopId: stop?.id ?? null,
    stopStatus: stop?.status ?? null,
    stopFailingSince: stop && hasFailedAttempt(stop) ? (stop.requestedAt ?? stop.lastAttemptAt ?? null) : null,
    stopFailedForMs: stop && hasFailedAttempt(stop) ? failedForMs(stop) : null,
    stoppedAt: stop?.status === 'completed' ? (stop.endedAt ?? null) : null,
    dataExpiredAt: sandbox.dataExpiredAt ?? null,
    idleSince: idleSinceOf(sandbox),
    saved: savedOf(sandbox),
    savedAt: sandbox.snapshotVerifiedAt ?? sandbox.snapshotCompletedAt ?? null,
  };
}

/**
 * Time of the last known activity in the sandbox. A working agent moves `archiveAfter`, so `archiveAfter` minus the
 * auto-stop time is the time of such an activity. Commands and SSH do not change the record (trap S11).
 */
function idleSinceOf(sandbox: Sandbox): string | null {
  if (sandbox.state === 'archived') return sandbox.stop?.endedAt ?? sandbox.updatedAt ?? null;
  if (sandbox.state === 'running' || (!isUsable(sandbox.state) && sandbox.state !== 'error')) return null;
  const renewedMs =
    sandbox.archiveAfter == null || sandbox.ttlSeconds == null
      ? Number.NaN
      : Date.parse(sandbox.archiveAfter) - sandbox.ttlSeconds * 1_000;
  const times = [sandbox.createdAt, sandbox.updatedAt, sandbox.hydratedAt].map((at) => Date.parse(at ?? ''));
  const known = [...times, renewedMs].filter(isDate);
  return known.length === 0 ? null : new Date(Math.max(...known)).toISOString();
}

function savedOf(sandbox: Sandbox): Saved {
  if (sandbox.dataExpiredAt != null) return 'expired';
  if (sandbox.snapshots === false || sandbox.snapshotAvailable === false) return 'none';
  const savedAt = sandbox.snapshotVerifiedAt ?? sandbox.snapshotCompletedAt;
  if (sandbox.snapshotAvailable === undefined || savedAt == null) return 'unknown';
  if (sandbox.lastSnapshotStatus != null && sandbox.lastSnapshotStatus !== 'completed') return 'stale';
  // A running machine may have changed since its snapshot.
  return sandbox.state === 'archived' ? 'saved' : 'stale';
}

/**
 * The facts that have changed since the plan. Any change makes a planned action invalid. Cost is not compared, because
 * it grows by itself.
 */
export function changedSince(planned: SandboxFacts, now: SandboxFacts): (keyof SandboxFacts)[] {
  const { dollars: _, ...compared } = planned;
  return differences(compared, now);
}

/**
 * The same for a failing stop, whose attempts change the record of the sandbox all the time. Its rule tells whether it
 * still fails.
 */
export function changedSinceOfFailing(planned: SandboxFacts, now: SandboxFacts): (keyof SandboxFacts)[] {
  const { id, name, stopId } = planned;
  return differences({ id, name, stopId }, now);
}

function differences(compared: Partial<SandboxFacts>, now: SandboxFacts): (keyof SandboxFacts)[] {
  return (Object.keys(compared) as (keyof SandboxFacts)[]).filter((fact) => compared[fact] !== now[fact]);
}

function failedForMs({ requestedAt, lastAttemptAt }: NonNullable<Sandbox['stop']>): number | null {
  const ms = Date.parse(lastAttemptAt ?? '') - Date.parse(requestedAt ?? '');
  return Number.isNaN(ms) ? null : ms;
}
