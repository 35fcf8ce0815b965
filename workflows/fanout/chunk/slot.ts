/** An item of a chunk and its progress. */
import type { CancellationScope } from '@temporalio/workflow';
import type { CarriedItem, ChunkInput, KnownItem, Resumption } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutItem, ItemOutcome, ItemToEnd } from '../../../src/protocol/fanout/fanout-input.js';
import { reservedSeconds } from './budget.js';
import { resumptionOf } from './retry-policy.js';

export interface Slot {
  readonly index: number;
  readonly item: FanoutItem;
  /** Machine-seconds reserved for it while it runs. */
  readonly costSeconds: number;
  state: 'waiting' | 'running' | 'ended';
  /** The generation that runs, or the next one. */
  generation: number;
  /** True if an earlier workflow may have forked that generation. */
  lookFirst: boolean;
  retried: number;
  outcome: ItemOutcome | null;
  /**
   * The newest generation that had ended when the results were read. The workflow of the item may have started the next
   * generation since, or ended.
   */
  settled: number;
  /** How often its workflow was terminated from outside, in this generation. */
  losses: number;
  /** Set if only its fork must still be ended. */
  toEnd: ItemToEnd | null;
  /** What to do once that fork has ended, if an earlier execution did the work. */
  after: Resumption | null;
  /** True if an earlier run of the chunk started its workflow, so that it is not a child of this run. */
  isAttached: boolean;
  /** Scope of its workflow while it runs. */
  scope: CancellationScope | null;
}

interface Place {
  readonly index: number;
  readonly item: FanoutItem;
}

/** @param options.earlier what the result store holds about the item */
export function knownSlot(
  place: Place,
  options: { readonly earlier: KnownItem | null; readonly isRunning: boolean; readonly chunk: ChunkInput },
): Slot {
  const { earlier, isRunning, chunk } = options;
  const slot = freshSlot(place, chunk);
  if (chunk.isFresh) return slot;
  const next = resumptionOf(earlier, { retryFailed: chunk.retryFailed, retries: chunk.policy.retries });
  if (isRunning) {
    // If the item has ended since, its result is the stored one.
    const generation = earlier?.generation ?? 1;
    const settled = earlier && !earlier.toEnd ? generation : 0;
    return {
      ...slot,
      state: 'running',
      isAttached: true,
      generation,
      settled,
      lookFirst: true,
      retried: generation - 1,
    };
  }
  if (earlier?.toEnd) {
    const { toEnd } = earlier;
    return { ...slot, generation: toEnd.generation, lookFirst: true, toEnd, after: next };
  }
  if (next.kind === 'run') {
    const { generation, lookFirst, retried } = next;
    return { ...slot, generation, lookFirst, retried };
  }
  return { ...slot, state: 'ended', generation: earlier?.generation ?? 1, outcome: earlier?.outcome ?? null };
}

export function carriedSlot(
  place: Place,
  { carried, chunk }: { readonly carried: CarriedItem; readonly chunk: ChunkInput },
): Slot {
  const { state = 'waiting', lookFirst = false } = carried;
  return { ...freshSlot(place, chunk), ...carried, state, lookFirst, isAttached: state === 'running' };
}

/** Omits default values, because a chunk carries a hundred items to its next run. */
export function carrySlot(slot: Slot): CarriedItem {
  const { state, generation, lookFirst, retried, outcome, settled, losses, toEnd, after } = slot;
  return {
    ...(state !== 'waiting' && { state }),
    ...(generation !== 1 && { generation }),
    ...(lookFirst && { lookFirst }),
    ...(retried !== 0 && { retried }),
    ...(outcome && { outcome }),
    ...(settled !== 0 && { settled }),
    ...(losses !== 0 && { losses }),
    ...(toEnd && { toEnd }),
    ...(after && { after }),
  };
}

function freshSlot({ index, item }: Place, chunk: ChunkInput): Slot {
  return {
    index,
    item,
    costSeconds: reservedSeconds(item, chunk),
    state: 'waiting',
    generation: 1,
    lookFirst: false,
    retried: 0,
    outcome: null,
    settled: 0,
    losses: 0,
    toEnd: null,
    after: null,
    isAttached: false,
    scope: null,
  };
}
