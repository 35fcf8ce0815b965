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
import type { ItemResult, ItemSummary } from '../fanout.js';
import type { fanoutItem } from '../fanout-item.js';
import { workflowTypes } from '../messages.js';
import { storing } from '../proxies.js';
import { jobError } from '../steps/job-ended.js';
import { type ChunkRun, lostItemCode, type Slot } from './chunk-run.js';
import { itemInput } from './item-input.js';
import { bulk, waitProxies } from './proxies.js';

/** How often an item's workflow is started again after somebody terminated it. */
const lossesAtMost = 2;

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
  for (let losses = 0; ; ) {
    try {
      return await executeItem(run, slot);
    } catch (error) {
      const isTaken = error instanceof WorkflowExecutionAlreadyStartedError;
      if (!isTaken && (isCancellation(error) || run.isEnding)) throw error;
      // Somebody else has started it: a reset of this chunk, or an earlier one of which nobody knew.
      if (isTaken) await awaitClosed(run, [slot.index]);
      else losses += 1;
      const left = await leftBy(run, slot);
      if (left) return left;
      if (losses > lossesAtMost) throw error;
      // It finds its fork, and what was prompted there, and goes on with it.
      slot.lookFirst = true;
    }
  }
}

function executeItem(run: ChunkRun, slot: Slot): Promise<ItemSummary> {
  const queuedAt = new Date(workflowInfo().startTime).toISOString();
  return executeChild<typeof fanoutItem>(workflowTypes.fanoutItem, {
    workflowId: run.places.itemWorkflow(slot.index),
    args: [itemInput(run.input, { ...slot, queuedAt }, run.places)],
    // The chunk's end asks its items to end; they clean up.
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    memo: { execution: executionOf(run.input.batchKey) },
    staticSummary: slot.item.id,
  });
}

/** What the item had stored before its workflow was ended from outside; undefined where that is nothing. */
async function leftBy(run: ChunkRun, { index, generation }: Slot): Promise<ItemSummary | undefined> {
  const known = await bulk.readFanoutItem(run.place, index);
  if (!known || known.generation < generation) return undefined;
  const { outcome, machineSeconds, errorCode } = known;
  return {
    ...unanswered,
    index,
    generation: known.generation,
    outcome,
    machineSeconds,
    error: errorCode === null ? null : jobError(errorCode, 'See the result of the item'),
  };
}

const unanswered = { sandboxId: null, endedAsAsked: true, resultRef: null, apiCalls: 0 } as const;

/**
 * Somebody terminates the item's workflow again and again. Nobody ends its fork, and nobody knows how long it runs: the
 * whole reservation counts as spent.
 */
async function lost(run: ChunkRun, slot: Slot, error: unknown): Promise<ItemSummary> {
  const { index, item, costSeconds, generation } = slot;
  const { batchId } = run.input;
  const why = error instanceof Error ? error.message : String(error);
  const never = { queuedAt: null, forkedAt: null, usableAt: null, promptedAt: null, answeredAt: null, endingAt: null };
  const result: ItemResult = {
    batchId,
    itemId: item.id,
    index,
    generation,
    outcome: 'outcome_unknown',
    labels: item.labels ?? {},
    type: run.typeOf(slot),
    times: { ...never, endedAt: new Date().toISOString() },
    machineSeconds: costSeconds,
    job: null,
  };
  // A store that is out of order loses the word of it, and not the batch.
  await storing.storeObject(`${run.places.item(index)}/${generation}.json`, result).catch(() => undefined);
  const told = jobError(lostItemCode, `The workflow of item ${index} of ${batchId} ended without a result: ${why}`);
  return { ...unanswered, index, generation, outcome: 'outcome_unknown', machineSeconds: costSeconds, error: told };
}
