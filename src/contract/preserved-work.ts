/** What a stop kept of the work. Pure. */

import type { SandboxView, StopView } from './sandbox-view.js';

/** What was kept of the work: `saved` all of it, `stale` an older state, `none` nothing. */
export type PreservedWork = 'saved' | 'stale' | 'none';

type SnapshotOfSandbox = Pick<
  SandboxView,
  'snapshots' | 'snapshotAvailable' | 'snapshotCompletedAt' | 'snapshotVerifiedAt' | 'lastSnapshotStatus'
>;

/**
 * @param sandbox read after the stop had completed
 * @param stop as it was first answered: its `requestedAt` is null once it has ended
 * @returns null if the service does not say enough
 */
export function preservedWorkOf(sandbox: SnapshotOfSandbox, stop: Pick<StopView, 'requestedAt'>): PreservedWork | null {
  if (sandbox.snapshots === false || sandbox.snapshotAvailable === false) return 'none';
  if (sandbox.snapshotAvailable === null) return null;
  if (sandbox.lastSnapshotStatus !== null && sandbox.lastSnapshotStatus !== 'completed') return 'stale';
  const savedAt = sandbox.snapshotVerifiedAt ?? sandbox.snapshotCompletedAt;
  if (savedAt === null) return null;
  if (stop.requestedAt === null) return 'saved';
  return Date.parse(savedAt) >= Date.parse(stop.requestedAt) ? 'saved' : 'stale';
}
