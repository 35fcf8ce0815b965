/**
 * Waits for items that an earlier run of the chunk started. They are not children of this run, so an activity must wait
 * for them.
 */
import { CancellationScope, getExternalWorkflowHandle, isCancellation, workflowInfo } from '@temporalio/workflow';
import { followTaskQueue } from '../../../src/addresses/addresses.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import { followProxies, longFollow } from '../../shared/proxies.js';
import type { ChunkState } from './chunk-state.js';

/** Waits for the ends of these items with one activity, which restarts after each end. */
export function watchItems(chunk: ChunkState, indexes: readonly number[]): void {
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
export async function awaitItem(chunk: ChunkState, index: number): Promise<ItemSummary | null> {
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
export async function cancelItem({ places }: ChunkState, index: number): Promise<void> {
  try {
    await getExternalWorkflowHandle(places.itemWorkflow(index)).cancel();
  } catch {
    // It has just ended.
  }
}
