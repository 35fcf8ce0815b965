/** Tells how much of the work a stop preserved. Pure. */

import type { SandboxView, StopView } from './sandbox-view.js';

/** How much of the work was preserved: `saved` means all, `stale` an older state, `none` nothing. */
export type PreservedWork = 'saved' | 'stale' | 'none';

/** What a sandbox shows of its snapshots. */
type Shown = 'snapshots' | 'snapshotAvailable' | 'snapshotCompletedAt' | 'snapshotVerifiedAt' | 'lastSnapshotStatus';
type SnapshotOfSandbox = { readonly [Field in Shown]?: SandboxView[Field] | undefined };

/**
 * @param sandbox the sandbox as read after the stop had completed
 * @param stop the stop as the service first returned it; later reads of the sandbox show `requestedAt` as null
 * @returns null if the service does not return enough to decide
 */
export function preservedWorkOf(sandbox: SnapshotOfSandbox, stop: Pick<StopView, 'requestedAt'>): PreservedWork | null {
  if (sandbox.snapshots === false || sandbox.snapshotAvailable === false) return 'none';
  if (sandbox.snapshotAvailable == null) return null;
  if (sandbox.lastSnapshotStatus != null && sandbox.lastSnapshotStatus !== 'completed') return 'stale';
  const savedAt = sandbox.snapshotVerifiedAt ?? sandbox.snapshotCompletedAt;
  if (savedAt == null) return null;
  if (stop.requestedAt === null) return 'saved';
  return Date.parse(savedAt) >= Date.parse(stop.requestedAt) ? 'saved' : 'stale';
}

/** What is not saved of a sandbox that is not archived: one sentence; null if the service does not show it. */
export function unsavedWork({ snapshots, snapshotAvailable, ...saved }: SnapshotOfSandbox): string | null {
  if (snapshots === false) return 'Its snapshots are off: none of its work is saved.';
  if (snapshotAvailable === false) return 'It has no snapshot: none of its work is saved.';
  const savedAt = saved.snapshotVerifiedAt ?? saved.snapshotCompletedAt;
  return savedAt == null ? null : `Its last snapshot is of ${savedAt}: work after that is not saved.`;
}
