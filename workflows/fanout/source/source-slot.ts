/** One of the sources of a batch, in one run: its own, or one that only some of its chunks name. */
import type { CancellationScope } from '@temporalio/workflow';
import { prepareStep, sourceStep } from '../../../src/addresses/addresses.js';
import type { CarriedSource, ChunkPlace, OwnSource } from '../../../src/protocol/fanout/batch-parts.js';
import type { SourceCounts } from '../../../src/protocol/fanout/fanout-progress.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import type { JobState } from '../../job/job-state.js';

export class SourceSlot<Carried extends CarriedSource = CarriedSource> {
  /** The state with which the batch makes calls for the source, while it obtains or ends it. It receives the events of the batch. */
  job: JobState | null = null;
  /** Set while the source is obtained. */
  obtaining: CancellationScope | null = null;
  /** The timer that renews the lease; set while the source is ready. */
  leasing: CancellationScope | null = null;
  /** True during a renewal: a lease that is granted after its release would stay. */
  isRenewing = false;
  /** True once the job that prepares the source has ended for this run, which has named what it left. */
  isTakenOver = false;
  /** Set once the source is being ended; the error if it did not end as requested. */
  ending: Promise<JobError | null> | null = null;

  constructor(readonly carried: Carried) {}

  /** The step in the name of the sandbox that is prepared. */
  get step(): string {
    return isOwn(this) ? sourceStep(this.carried.number) : prepareStep;
  }
}

/** True for a source that only some of the chunks name. */
export function isOwn(slot: SourceSlot): slot is SourceSlot<OwnSource> {
  return 'number' in slot.carried;
}

/** Undefined for the source of the batch. */
export function numberOf(slot: SourceSlot): number | undefined {
  return isOwn(slot) ? slot.carried.number : undefined;
}

/** True for a source from which no further item starts. The batch ends without its own source. */
export function hasFailed(slot: SourceSlot): boolean {
  return isOwn(slot) && slot.carried.hasFailed === true;
}

/** True for a source that is prepared or ready, or may still leave something to end. */
export function isHeld(slot: SourceSlot): boolean {
  return !slot.carried.isSourceEnded && (!isOwn(slot) || slot.carried.isBegun === true);
}

/** The state of a source that the batch has not begun to obtain. */
export const noSource: CarriedSource = {
  source: null,
  sourceChange: null,
  preparedSandboxId: null,
  leasedAtMs: null,
  leasedSandboxId: null,
};

/** @param first the first chunk that names it */
export function newOwnSource(
  { chunk: number, firstIndex }: ChunkPlace,
  named: Pick<OwnSource, 'digest' | 'end'>,
): OwnSource {
  return { ...noSource, number, firstIndex, ...named };
}

export function sourceCountsOf(sources: readonly OwnSource[]): SourceCounts {
  const counts = { waiting: 0, preparing: 0, ready: 0, ended: 0, failed: 0 };
  for (const one of sources) counts[stageOf(one)] += 1;
  return counts;
}

function stageOf({ hasFailed, isSourceEnded, source, isBegun }: OwnSource): keyof SourceCounts {
  if (hasFailed) return 'failed';
  if (isSourceEnded) return 'ended';
  if (source !== null) return 'ready';
  return isBegun ? 'preparing' : 'waiting';
}
