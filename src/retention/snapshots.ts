/** Which snapshots of a sandbox may go. Pure. */
import { fitsAny } from './glob.js';
import type { SnapshotFacts } from './plan-types.js';
import type { CleanupPolicy, Rule } from './policy.js';

/** Of unknown age counts as new; ids settle a tie. */
function oldestFirst(a: SnapshotFacts, b: SnapshotFacts): number {
  const difference = madeMs(a) - madeMs(b);
  return Number.isNaN(difference) || difference === 0 ? (a.id < b.id ? -1 : 1) : difference;
}

const madeMs = ({ createdAt }: SnapshotFacts) => Date.parse(createdAt ?? '') || Number.POSITIVE_INFINITY;

/**
 * Oldest first: all but the newest that the rule keeps, but those that are too young, and those with a name, which
 * creates may name, unless the rule names them, too.
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
    .filter((snapshot) => snapshotsOlderThanMs === null || nowMs - madeMs(snapshot) > snapshotsOlderThanMs);
}
