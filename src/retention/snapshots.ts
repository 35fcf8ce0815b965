/** Selects the snapshots of a sandbox that may be deleted. Pure. */

import type { SnapshotFacts } from '../protocol/cleanup-plan.js';
import type { CleanupPolicy, Rule } from '../protocol/cleanup-policy.js';
import { fitsAny } from './glob.js';
import { createdMs, oldestFirst } from './match.js';

/**
 * The snapshots that may be deleted, oldest first. The rule says how many of the newest snapshots are kept, and how old
 * a snapshot must be. A named snapshot is kept unless the rule lists its name, because a create may refer to that name.
 */
export function deletableSnapshots(
  snapshots: readonly SnapshotFacts[],
  { keepSnapshots, snapshotNames, snapshotsOlderThanMs }: Rule,
  { protect, nowMs }: Pick<CleanupPolicy, 'protect'> & { readonly nowMs: number },
): readonly SnapshotFacts[] {
  const ordered = [...snapshots].sort(oldestFirst);
  return ordered
    .slice(0, Math.max(0, ordered.length - keepSnapshots))
    .filter(({ name }) => name === null || (fitsAny(snapshotNames, name) && !fitsAny(protect, name)))
    .filter((snapshot) => snapshotsOlderThanMs === null || nowMs - createdMs(snapshot) > snapshotsOlderThanMs);
}
