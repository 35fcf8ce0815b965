/** Which snapshots of a sandbox may go. Pure. */
import type { SnapshotFacts } from './plan-types.js';

/** Of unknown age counts as new; ids settle a tie. */
function oldestFirst(a: SnapshotFacts, b: SnapshotFacts): number {
  const difference = madeMs(a) - madeMs(b);
  return Number.isNaN(difference) || difference === 0 ? (a.id < b.id ? -1 : 1) : difference;
}

const madeMs = ({ createdAt }: SnapshotFacts) => Date.parse(createdAt ?? '') || Number.POSITIVE_INFINITY;

/** Oldest first: those without a name, but the newest `keep` of all. A name makes a snapshot the source of creates. */
export function deletableSnapshots(snapshots: readonly SnapshotFacts[], keep: number): readonly SnapshotFacts[] {
  const ordered = [...snapshots].sort(oldestFirst);
  return ordered.slice(0, Math.max(0, ordered.length - keep)).filter(({ name }) => name === null);
}
