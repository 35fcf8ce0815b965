/** Reads the items of a chunk, and runs each in its own workflow, which outlives every run of the chunk. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  isCancellation,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { executionOf } from '../../../src/contract/workflow-safe/addresses.js';
import type { KnownItem } from '../../../src/protocol/fanout/batch-parts.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import { workflowTypes } from '../../../src/protocol/messages.js';
import { jobError } from '../../shared/job-termination.js';
import { bulk, lookups } from '../../shared/proxies.js';
import { textInSummariesMemo } from '../../shared/text-in-summaries.js';
import type { fanoutItem } from '../item/fanout-item.js';
import type { ChunkState } from './chunk-state.js';
import { itemInput } from './item-input.js';
import { awaitItem, watchItems } from './running-items.js';
import type { Slot } from './slot.js';
import { terminatedItem } from './terminated-item.js';

/** How often an item's workflow is restarted after somebody terminated it. */
const lossesAtMost = 2;

/**
 * Resumes the items from their current state. Items that an earlier run of the chunk started keep running, and the
 * chunk waits for them. The chunk first checks which items run, and then reads results. So it also reads the result of
 * an item that ends in between.
 */
export async function readItems(run: ChunkState): Promise<void> {
  const { chunk, isFresh, carried } = run.input;
  const { place } = run;
  const running = isFresh || carried ? new Set<number>() : await runningItems(run);
  const summary = `read chunk ${chunk}`;
  const withKnown = !isFresh && !carried;
  const { items, known } = await bulk.readFanoutChunk.executeWithOptions({ summary }, [{ place, chunk, withKnown }]);
  if (carried) run.loadCarried(items);
  else run.load(items, known, running);
  const attached = run.running;
  if (attached.length === 0) return;
  watchItems(
    run,
    attached.map(({ index }) => index),
  );
  for (const slot of attached) begin(run, slot);
  if (run.isEnding) run.cut();
}

async function runningItems(run: ChunkState): Promise<ReadonlySet<number>> {
  const { firstIndex, items } = run.input;
  const indexes = Array.from({ length: items }, (_, at) => firstIndex + at);
  const statuses = await lookups.describeWorkflows(indexes.map(run.places.itemWorkflow));
  return new Set(indexes.filter((_, at) => statuses[at] === 'RUNNING'));
}

/** Starts the next generation of an item, and records its result at its end. */
export function startItem(run: ChunkState, slot: Slot): void {
  slot.carried.state = 'running';
  run.hasMoved = true;
  run.noteChange('soon');
  begin(run, slot);
}

function begin(run: ChunkState, slot: Slot): void {
  const scope = new CancellationScope();
  slot.scope = scope;
  void settle(run, slot, scope);
}

async function settle(run: ChunkState, slot: Slot, scope: CancellationScope): Promise<void> {
  try {
    run.settle(slot, await scope.run(() => runItem(run, slot)));
  } catch (error) {
    if (isCancellation(error)) run.putBack(slot);
    else run.settle(slot, await run.busy(() => terminatedItem(run, slot, error)));
  }
}

async function runItem(run: ChunkState, slot: Slot): Promise<ItemSummary> {
  for (;;) {
    const ended = await runOnce(run, slot);
    if (ended === 'taken') continue;
    slot.isAttached = false;
    if (ended && ended.generation >= slot.carried.generation) return ended;
    // This result is of an earlier generation, from an earlier start of the chunk.
    if (ended) continue;
    slot.carried.losses += 1;
    slot.carried.generation = Math.max(slot.carried.generation, slot.carried.settled + 1);
    const left = await run.busy(() => leftBy(run, slot));
    if (left) return left;
    if (slot.carried.losses > lossesAtMost || (run.isEnding && !slot.carried.toEnd))
      throw new Error('it was terminated');
    // The new workflow finds its fork and its prompts, and continues.
    slot.carried.lookFirst = true;
  }
}

/** @returns null if the workflow was terminated from outside */
async function runOnce(run: ChunkState, slot: Slot): Promise<ItemSummary | 'taken' | null> {
  if (slot.isAttached) return awaitItem(run, slot.index);
  try {
    return await executeItem(run, slot);
  } catch (error) {
    if (isCancellation(error)) throw error;
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) return null;
    // The item already runs: this chunk started it before a reset, or another start of the chunk did, which this run
    // does not know.
    slot.isAttached = true;
    void CancellationScope.nonCancellable(async () => watchItems(run, [slot.index]));
    return 'taken';
  }
}

async function executeItem(run: ChunkState, slot: Slot): Promise<ItemSummary> {
  const queuedAt = new Date(run.carried.startedAtMs).toISOString();
  const input = itemInput(run.input, { ...slot, ...slot.carried, queuedAt }, run.places);
  const start = () =>
    startChild<typeof fanoutItem>(workflowTypes.fanoutItem, {
      workflowId: run.places.itemWorkflow(slot.index),
      args: [input],
      // The item outlives this run, and the next run finds it.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      memo: { execution: executionOf(run.input.batchKey), ...textInSummariesMemo() },
      staticSummary: slot.item.id,
    });
  const child = await run.counting(() => run.starts.within(input, start));
  return child.result();
}

/** What the item stored before its workflow was terminated; undefined if that is incomplete. */
async function leftBy(run: ChunkState, slot: Slot): Promise<ItemSummary | undefined> {
  const known = await bulk.readFanoutItem(run.place, slot.index);
  if (!known || known.generation < slot.carried.generation) return undefined;
  slot.carried.generation = known.generation;
  slot.carried.toEnd = known.toEnd;
  return known.toEnd ? undefined : summaryOf(known);
}

function summaryOf({ index, generation, outcome, errorCode, ...known }: KnownItem): ItemSummary {
  // Earlier generations were counted when they ended.
  const machineSeconds = known.newestSeconds;
  const error = errorCode === null ? null : jobError({ foreign: errorCode }, 'See the result of the item');
  const ended = { sandboxId: null, endedAsAsked: true, resultRef: null, apiCalls: 0, left: [] };
  return { ...ended, index, generation, outcome, machineSeconds, error };
}
