/** Reads the items of a chunk, and runs each in its own workflow, which outlives every run of the chunk. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  sleep,
  startChild,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { executionOf, followTaskQueue } from '../../../src/addresses/addresses.js';
import type { KnownItem } from '../../../src/protocol/fanout/batch-parts.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import { workflowTypes } from '../../../src/protocol/messages.js';
import { bulk, followProxies, longFollow, lookups } from '../../shared/activity-options.js';
import { jobError } from '../../shared/job-termination.js';
import { countEnd } from '../../shared/metrics.js';
import { partAttributes } from '../../shared/search-attributes.js';
import { textInSummariesMemo } from '../../shared/text-in-summaries.js';
import { itemEndsInMs } from '../../shared/wait-intervals.js';
import type { fanoutItem } from '../item/fanout-item.js';
import type { ChunkState, SeenItems } from './chunk-state.js';
import { itemInput } from './item-input.js';
import type { Slot } from './slot.js';
import { terminatedItem } from './terminated-item.js';

/** How often an item's workflow is restarted after somebody terminated it. */
const lossesAtMost = 2;

/**
 * Resumes the items from their current state. Items that an earlier run of the chunk started keep running, and the
 * chunk waits for them. The chunk first checks which items run, and then reads results. So it also reads the result of
 * an item that ends in between.
 */
export async function readItems(chunk: ChunkState): Promise<void> {
  const { chunk: number, isFresh, carried, changed } = chunk.input;
  const { place } = chunk;
  const seen = isFresh || carried ? undefined : await lookAtItems(chunk);
  const summary = `read chunk ${number}`;
  const withKnown = !isFresh && !carried;
  const { items, known, next } = await bulk.readFanoutChunk.executeWithOptions({ summary }, [
    { place, chunk: number, withKnown, ...(changed && { changed }) },
  ]);
  if (carried) chunk.loadCarried(items);
  else chunk.load(items, known, seen && { ...seen, next });
  const attached = chunk.running;
  if (attached.length === 0) return;
  watchItems(
    chunk,
    attached.map(({ index }) => index),
  );
  for (const slot of attached) begin(chunk, slot);
  if (chunk.isEnding) chunk.cut();
}

/**
 * Cancels the items that an earlier run of the chunk started, if this run cannot read what they are, and waits for their
 * ends. Names the forks of those that do not end in time, and of those whose workflows were terminated.
 */
export async function endItems(chunk: ChunkState): Promise<void> {
  const { isFresh, firstIndex, carried, timing } = chunk.input;
  if (isFresh && !carried) return;
  const carriedItem = (index: number) => carried?.items[index - firstIndex];
  const seen = await lookAtItems(chunk);
  const running = [...seen.running];
  // This run's predecessor has reported the items that had ended.
  const lost = [...seen.lost].filter((index) => carriedItem(index)?.state !== 'ended');
  const summaries = new Map<number, ItemSummary | null>();
  watchItems(chunk, running);
  const ends = running.map(async (index) => {
    await cancelItem(chunk, index);
    summaries.set(index, await awaitItem(chunk, index));
  });
  const summary = 'until items that cannot be read have ended';
  await Promise.race([Promise.all(ends), sleep(itemEndsInMs(timing), { summary })]);
  for (const index of [...running, ...lost]) {
    const generation = carriedItem(index)?.generation ?? 1;
    chunk.recordEnd({ index, generation }, summaries.get(index) ?? null);
  }
}

/** Workflows of items that will not return a result. */
const lostStatuses: ReadonlySet<string> = new Set(['TERMINATED', 'TIMED_OUT', 'FAILED', 'CANCELLED']);

async function lookAtItems(chunk: ChunkState): Promise<SeenItems> {
  const { firstIndex, items } = chunk.input;
  const indexes = Array.from({ length: items }, (_, at) => firstIndex + at);
  const statuses = await lookups.describeWorkflows(indexes.map(chunk.places.itemWorkflow));
  return {
    running: new Set(indexes.filter((_, at) => statuses[at] === 'RUNNING')),
    lost: new Set(indexes.filter((_, at) => lostStatuses.has(statuses[at] ?? ''))),
  };
}

/** Starts the next generation of an item, and records its result at its end. */
export function startItem(chunk: ChunkState, slot: Slot): void {
  slot.carried.state = 'running';
  chunk.hasMoved = true;
  chunk.noteChange('soon');
  begin(chunk, slot);
}

function begin(chunk: ChunkState, slot: Slot): void {
  const scope = new CancellationScope();
  slot.scope = scope;
  void settle(chunk, slot, scope);
}

async function settle(chunk: ChunkState, slot: Slot, scope: CancellationScope): Promise<void> {
  const end = (summary: ItemSummary) => {
    chunk.settle(slot, summary);
    countEnd(slot.carried.state === 'ended' ? 'item' : 'retried_item', summary);
  };
  try {
    end(await scope.run(() => runItem(chunk, slot)));
  } catch (error) {
    if (isCancellation(error)) chunk.putBack(slot);
    else end(await chunk.busy(() => terminatedItem(chunk, slot, error)));
  }
}

async function runItem(chunk: ChunkState, slot: Slot): Promise<ItemSummary> {
  for (;;) {
    const ended = await runOnce(chunk, slot);
    if (ended === 'taken') continue;
    slot.isAttached = false;
    if (ended && ended.generation >= slot.carried.generation) return ended;
    // This result is of an earlier generation, from an earlier start of the chunk.
    if (ended) continue;
    slot.carried.losses += 1;
    slot.carried.generation = Math.max(slot.carried.generation, slot.carried.settled + 1);
    const left = await chunk.busy(() => leftBy(chunk, slot));
    if (left) return left;
    if (slot.carried.losses > lossesAtMost || (chunk.isEnding && !slot.carried.toEnd))
      throw new Error('it was terminated');
    // The new workflow finds its fork and its prompts, and continues.
    slot.carried.lookFirst = true;
  }
}

/** @returns null if the workflow was terminated from outside */
async function runOnce(chunk: ChunkState, slot: Slot): Promise<ItemSummary | 'taken' | null> {
  if (slot.isAttached) return awaitItem(chunk, slot.index);
  try {
    return await executeItem(chunk, slot);
  } catch (error) {
    if (isCancellation(error)) throw error;
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) return null;
    // The item already runs: this chunk started it before a reset, or another start of the chunk did, which this run
    // does not know.
    slot.isAttached = true;
    void CancellationScope.nonCancellable(async () => watchItems(chunk, [slot.index]));
    return 'taken';
  }
}

async function executeItem(chunk: ChunkState, slot: Slot): Promise<ItemSummary> {
  const queuedAt = new Date(chunk.carried.startedAtMs).toISOString();
  const input = itemInput(chunk.input, { ...slot, ...slot.carried, queuedAt }, chunk.places);
  const start = () =>
    startChild<typeof fanoutItem>(workflowTypes.fanoutItem, {
      workflowId: chunk.places.itemWorkflow(slot.index),
      args: [input],
      // The item outlives this run, and the next run finds it.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      memo: { execution: executionOf(chunk.input.batchKey), ...textInSummariesMemo() },
      ...partAttributes('item'),
      staticSummary: slot.item.id,
    });
  const child = await chunk.counting(() => chunk.starts.within(input, start));
  return child.result();
}

/** What the item stored before its workflow was terminated; undefined if that is incomplete. */
async function leftBy(chunk: ChunkState, slot: Slot): Promise<ItemSummary | undefined> {
  const known = await bulk.readFanoutItem(chunk.place, slot.index);
  if (!known || known.generation < slot.carried.generation) return undefined;
  slot.carried.generation = known.generation;
  slot.carried.toEnd = known.toEnd;
  return known.toEnd ? undefined : summaryOf(known);
}

function summaryOf({ errorCode, newestSeconds: machineSeconds, ...known }: KnownItem): ItemSummary {
  // Earlier generations were counted when they ended.
  const error = errorCode === null ? null : jobError({ foreign: errorCode }, 'See the result of the item');
  const ended = { sandboxId: null, endedAsAsked: true, resultRef: null, ending: null, apiCalls: 0, left: [] };
  return { ...known, ...ended, machineSeconds, error };
}

/** Waits for the ends of these items with one activity, which restarts after each end. */
function watchItems(chunk: ChunkState, indexes: readonly number[]): void {
  const settlers = new Map<string, (summary: ItemSummary | null) => void>();
  for (const index of indexes) {
    const ended = new Promise<ItemSummary | null>((resolve) => {
      settlers.set(chunk.places.itemWorkflow(index), resolve);
    });
    chunk.watched.set(index, ended);
  }
  void watch(settlers);
}

async function watch(settlers: Map<string, (summary: ItemSummary | null) => void>): Promise<void> {
  const { awaitItems } = followProxies(followTaskQueue(workflowInfo().taskQueue));
  const summary = 'until items of an earlier run have ended';
  let isYoung = true;
  while (settlers.size > 0) {
    const options = { summary, ...(isYoung ? {} : longFollow) };
    const ended = await awaitItems.executeWithOptions(options, [[...settlers.keys()], isYoung]);
    isYoung &&= ended.length > 0;
    for (const { workflowId, summary: of } of ended) {
      settlers.get(workflowId)?.(of);
      settlers.delete(workflowId);
    }
  }
}

/**
 * Waits for the end of a watched item. Forwards a cancel to it, and still waits for its end.
 * @returns null if somebody terminated it
 */
async function awaitItem(chunk: ChunkState, index: number): Promise<ItemSummary | null> {
  const ended = chunk.watched.get(index) ?? Promise.resolve(null);
  try {
    return await Promise.race([ended, CancellationScope.current().cancelRequested]);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => cancelItem(chunk, index));
    return ended;
  }
}

/** Requests the cancel of an item, which then ends its fork. */
async function cancelItem({ places }: ChunkState, index: number): Promise<void> {
  try {
    await getExternalWorkflowHandle(places.itemWorkflow(index)).cancel();
  } catch {
    // It has just ended.
  }
}
