/**
 * The state of a source from which all forks of a batch start, as far as the service shows it. Pure.
 * No dependencies: workflow code imports this file.
 */
import type { SandboxView, StopView } from './sandbox-view.js';

/** A sandbox with a machine has no such state: each fork of it starts from the moment of its call. */
export type SourceState =
  | {
      readonly kind: 'sandbox';
      readonly sandboxId: string;
      /** Time of its latest completed snapshot, or null. */
      readonly snapshotCompletedAt: string | null;
      /** Id of its latest stop, or null. */
      readonly stopId: string | null;
    }
  | {
      readonly kind: 'snapshot';
      readonly name: string;
      readonly snapshotId: string;
      /** The sandbox that holds the snapshot. */
      readonly sandboxId: string;
    };

type SeenSandbox = Pick<SandboxView, 'state' | 'snapshotCompletedAt'> & {
  readonly stop: Pick<StopView, 'id'> | null;
};

export interface NamedSnapshot {
  readonly id: string;
  readonly name: string | null;
}

/** @returns null if the service shows nothing by which a later state could be told from this one */
export function stateOfSandbox({ id, state, snapshotCompletedAt, stop }: SandboxView): SourceState | null {
  const stopId = stop?.id ?? null;
  if (state !== 'archived' || (snapshotCompletedAt === null && stopId === null)) return null;
  return { kind: 'sandbox', sandboxId: id, snapshotCompletedAt, stopId };
}

/** True if both are states of the same sandbox, or of the same name of a snapshot. */
export function isSameSource(one: SourceState, other: SourceState): boolean {
  if (one.kind === 'sandbox') return other.kind === 'sandbox' && one.sandboxId === other.sandboxId;
  return other.kind === 'snapshot' && one.name === other.name;
}

/**
 * Why a sandbox may have changed since it was in this state, or null. A sandbox that was resumed and stopped without a
 * change has a new stop, and mostly a new snapshot: only the same snapshot shows that nothing changed.
 * @param now null if the sandbox was not found
 */
export function changeOfSandbox(
  before: Extract<SourceState, { kind: 'sandbox' }>,
  now: SeenSandbox | null,
): string | null {
  const { snapshotCompletedAt, stopId } = before;
  if (now === null) return 'it was deleted';
  if (now.state !== 'archived') return `it is ${now.state}, so somebody has resumed it`;
  if (snapshotCompletedAt !== null) {
    const isSame = now.snapshotCompletedAt === snapshotCompletedAt;
    return isSame
      ? null
      : `its snapshot is of ${now.snapshotCompletedAt ?? 'an unknown time'}, not of ${snapshotCompletedAt}`;
  }
  const nowId = now.stop?.id ?? null;
  return nowId === stopId && now.snapshotCompletedAt === null ? null : `its last stop is ${nowId}, not ${stopId}`;
}

/**
 * Why a name stands for another snapshot than before, or null.
 * @param now the snapshots of the sandbox that held the snapshot; null if the sandbox was not found
 */
export function changeOfSnapshot(
  { name, snapshotId }: Extract<SourceState, { kind: 'snapshot' }>,
  now: readonly NamedSnapshot[] | null,
): string | null {
  if (now?.some((known) => known.id === snapshotId && (known.name === name || known.id === name))) return null;
  return `the name no longer stands for ${snapshotId}, which was deleted or lost the name`;
}

/** Why a state is another one than before, or null. */
export function changeOfState(before: SourceState, now: SourceState): string | null {
  if (before.kind === 'snapshot') {
    const { snapshotId } = before;
    const isSame = now.kind === 'snapshot' && now.snapshotId === snapshotId;
    return isSame ? null : `the name no longer stands for ${snapshotId}`;
  }
  if (now.kind !== 'sandbox') return 'it is another source';
  const { snapshotCompletedAt, stopId } = now;
  const stop = stopId === null ? null : { id: stopId };
  return changeOfSandbox(before, { state: 'archived', snapshotCompletedAt, stop });
}
