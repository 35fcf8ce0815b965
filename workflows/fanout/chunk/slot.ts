/** An item of a chunk and its progress. */
import type { CancellationScope } from '@temporalio/workflow';
import type { CarriedItem, ChunkInput, KnownItem, NextRun } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutItem } from '../../../src/protocol/fanout/fanout-input.js';
import { reservedSeconds } from './budget.js';
import { resumptionOf, retriesOf } from './retry-policy.js';

export interface Slot {
  readonly index: number;
  readonly item: FanoutItem;
  /** Machine-seconds reserved for it while it runs. */
  readonly costSeconds: number;
  readonly carried: CarriedItem;
  /** True if an earlier run of the chunk started its workflow, so that it is not a child of this run. */
  isAttached: boolean;
  /** Scope of its workflow while it runs. */
  scope: CancellationScope | null;
}

export function slotOf(
  { index, item }: { readonly index: number; readonly item: FanoutItem },
  carried: CarriedItem,
  chunk: ChunkInput,
): Slot {
  const costSeconds = reservedSeconds(item, chunk);
  return { index, item, costSeconds, carried, isAttached: carried.state === 'running', scope: null };
}

/** The state of an item when its chunk starts. @param earlier what the result store holds about the item */
export function startingItem(
  earlier: KnownItem | null,
  options: {
    readonly isRunning: boolean;
    readonly isLost: boolean;
    /** Set if the item has changed. Default: null. */
    readonly changed?: NextRun | null;
    readonly chunk: ChunkInput;
  },
): CarriedItem {
  const { isRunning, isLost, changed = null, chunk } = options;
  if (chunk.isFresh) return { ...freshItem };
  const next = resumptionOf(earlier, {
    retryFailed: chunk.retryFailed,
    retries: chunk.policy.retries,
    next: changed,
    only: chunk.changed?.only === true,
  });
  if (isRunning) {
    // If the item has ended since, its result is the stored one.
    const generation = earlier?.generation ?? 1;
    const settled = earlier && !earlier.toEnd ? generation : 0;
    const { retried } = retriesOf({ ...earlier, generation });
    const { excused } = retriesOf({ ...earlier, generation: Math.max(generation, settled + 1) });
    return { ...freshItem, state: 'running', generation, settled, lookFirst: true, retried, excused };
  }
  if (earlier?.toEnd) {
    const { toEnd } = earlier;
    return { ...freshItem, generation: toEnd.generation, lookFirst: true, toEnd, after: next };
  }
  if (next.kind === 'run') {
    const { kind: _, ...run } = next;
    return { ...freshItem, ...run, losses: isLost ? 1 : 0 };
  }
  return {
    ...freshItem,
    state: 'ended',
    generation: earlier?.generation ?? 1,
    outcome: earlier?.outcome ?? 'not_started',
    failureClass: earlier?.failureClass,
  };
}

const freshItem: Readonly<CarriedItem> = {
  state: 'waiting',
  generation: 1,
  lookFirst: false,
  retried: 0,
  outcome: null,
  settled: 0,
  losses: 0,
  toEnd: null,
  after: null,
};
