/** Reads the items of a chunk, and runs each in a workflow of its own. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { executionOf, followTaskQueue } from '../../src/contract/addresses.js';
import type { ItemSummary } from '../fanout.js';
import type { fanoutItem } from '../fanout-item.js';
import { workflowTypes } from '../messages.js';
import { storing } from '../proxies.js';
import { jobError } from '../steps/job-ended.js';
import type { ChunkRun, Slot } from './chunk-run.js';
import { itemInput } from './item-input.js';
import { bulk, waitProxies } from './proxies.js';

/**
 * Where an earlier workflow of this chunk has run items, those that still do were cancelled with it: they come to their
 * end first, so that what is read then is all that they have done, and none runs twice.
 */
export async function readItems(run: ChunkRun): Promise<void> {
  const { chunk, isFresh } = run.input;
  const { place } = run;
  if (!isFresh) await awaitItems(run);
  const summary = `read chunk ${chunk}`;
  const { items, known } = await bulk.readFanoutChunk.executeWithOptions({ summary }, [
    { place, chunk, withKnown: !isFresh },
  ]);
  run.load(items, known);
}

async function awaitItems(run: ChunkRun): Promise<void> {
  const { firstIndex, items } = run.input;
  const indexes = Array.from({ length: items }, (_, at) => firstIndex + at);
  await awaitClosed(run, indexes);
}

async function awaitClosed(run: ChunkRun, indexes: readonly number[]): Promise<void> {
  const waits = waitProxies(followTaskQueue(workflowInfo().taskQueue));
  const workflowIds = indexes.map(run.places.itemWorkflow);
  await waits.awaitClosed.executeWithOptions({ summary: 'until items of an earlier start have ended' }, [workflowIds]);
}

/** Starts the next generation of an item, and settles it when it has ended. */
export function startItem(run: ChunkRun, slot: Slot): void {
  const scope = new CancellationScope();
  slot.state = 'running';
  slot.scope = scope;
  run.tell('soon');
  void settle(run, slot, scope);
}

async function settle(run: ChunkRun, slot: Slot, scope: CancellationScope): Promise<void> {
  try {
    run.settle(slot, await scope.run(() => runItem(run, slot)));
  } catch (error) {
    if (isCancellation(error)) run.putBack(slot);
    else run.settle(slot, await lost(run, slot, error));
  }
}

async function runItem(run: ChunkRun, slot: Slot): Promise<ItemSummary> {
  const { index } = slot;
  const queuedAt = new Date(workflowInfo().startTime).toISOString();
  for (;;) {
    try {
      return await executeChild<typeof fanoutItem>(workflowTypes.fanoutItem, {
        workflowId: run.places.itemWorkflow(index),
        args: [itemInput(run.input, { ...slot, queuedAt }, run.places)],
        // The chunk's end asks its items to end; they clean up.
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        memo: { execution: executionOf(run.input.batchKey) },
        staticSummary: slot.item.id,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      // Somebody else has started it: a reset of this chunk, or an earlier one of which nobody knew.
      await awaitClosed(run, [index]);
      slot.lookFirst = true;
    }
  }
}

/**
 * Somebody terminated the item's workflow. Nobody ends its fork, and nobody knows how long it runs: the whole
 * reservation counts as spent.
 */
async function lost(run: ChunkRun, slot: Slot, error: unknown): Promise<ItemSummary> {
  const { index, item, costSeconds } = slot;
  const { batchId } = run.input;
  const why = error instanceof Error ? error.message : String(error);
  const never = { queuedAt: null, forkedAt: null, usableAt: null, promptedAt: null, answeredAt: null, endingAt: null };
  const fallback = {
    batchId,
    itemId: item.id,
    index,
    generation: slot.generation,
    outcome: 'outcome_unknown',
    labels: item.labels ?? {},
    type: run.typeOf(slot),
    times: { ...never, endedAt: new Date().toISOString() },
    machineSeconds: costSeconds,
    job: null,
  } as const;
  // A store that is out of order loses the word of it, and not the batch.
  const { generation } = await storing
    .settleLostItem({ place: run.place, fallback })
    .catch(() => ({ generation: slot.generation }));
  return {
    index,
    generation,
    outcome: 'outcome_unknown',
    sandboxId: null,
    endedAsAsked: false,
    machineSeconds: costSeconds,
    resultRef: null,
    apiCalls: 0,
    error: jobError('item_lost', `The workflow of item ${index} of ${batchId} ended without a result: ${why}`),
  };
}
