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
import { jobError } from '../steps/job-ended.js';
import type { ChunkRun, Slot } from './chunk-run.js';
import { itemInput } from './item-input.js';
import { bulk, waitProxies } from './proxies.js';

/**
 * Where an earlier workflow of this chunk has run items, those that still do were cancelled with it: they come to their
 * end first, so that what is read then is all that they have done, and none runs twice.
 */
export async function readItems(run: ChunkRun): Promise<void> {
  const { deployment, batchId, batchKey, chunk, isFresh } = run.input;
  if (!isFresh) await awaitItems(run);
  const place = { deployment, batchId, batchKey };
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
  const running = scope.run(() => runItem(run, slot));
  running.then(
    (summary) => run.settle(slot, summary),
    (error: unknown) => {
      if (isCancellation(error)) run.putBack(slot);
      else run.settle(slot, lost(run, slot, error));
    },
  );
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
function lost({ input }: ChunkRun, { index, generation, costSeconds }: Slot, error: unknown): ItemSummary {
  const why = error instanceof Error ? error.message : String(error);
  return {
    index,
    generation,
    outcome: 'outcome_unknown',
    sandboxId: null,
    endedAsAsked: false,
    machineSeconds: costSeconds,
    resultRef: null,
    apiCalls: 0,
    error: jobError('item_lost', `The workflow of item ${index} of ${input.batchId} ended without a result: ${why}`),
  };
}
