/** What a cleanup knows of a sandbox. No secrets, and small: ten thousand of them are planned at once. */
import { isDate } from '../contract/is-date.js';
import type { Sandbox } from '../contract/records.js';
import { isUsable } from '../contract/states.js';

/** How much of the work of a sandbox is kept. `unknown` if the service does not say. */
export type Saved = 'saved' | 'stale' | 'none' | 'expired' | 'unknown';

export interface SandboxFacts {
  readonly id: string;
  readonly name: string | null;
  readonly state: string;
  readonly access: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly archiveAfter: string | null;
  readonly environment: string | null;
  readonly createdBy: string | null;
  readonly createdById: string | null;
  /** Since the first of the month; null if it was not requested. */
  readonly dollars: number | null;
  readonly stopId: string | null;
  readonly stopStatus: string | null;
  readonly stoppedAt: string | null;
  readonly dataExpiredAt: string | null;
  /** Since when nothing is known to have worked in it; null if the service does not say. */
  readonly idleSince: string | null;
  readonly saved: Saved;
  readonly savedAt: string | null;
}

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
    stoppedAt: stop?.status === 'completed' ? (stop.endedAt ?? null) : null,
    dataExpiredAt: sandbox.dataExpiredAt ?? null,
    idleSince: idleSinceOf(sandbox),
    saved: savedOf(sandbox),
    savedAt: sandbox.snapshotVerifiedAt ?? sandbox.snapshotCompletedAt ?? null,
  };
}

/**
 * The latest moment at which anything is known to have happened in it. An agent that works moves `archiveAfter`, so
 * that minus the auto-stop length is one such moment; commands and SSH leave no trace (trap S11).
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
  // Of a machine that runs, what has happened since the snapshot is not in it.
  return sandbox.state === 'archived' ? 'saved' : 'stale';
}

/** The facts that must be as they were for a planned action still to be right; cost grows by itself. */
export function changedSince(planned: SandboxFacts, now: SandboxFacts): (keyof SandboxFacts)[] {
  const { dollars: _, ...compared } = planned;
  return (Object.keys(compared) as (keyof typeof compared)[]).filter((fact) => planned[fact] !== now[fact]);
}
