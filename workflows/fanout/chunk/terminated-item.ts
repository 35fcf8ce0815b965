/** The summary of an item whose workflow was terminated repeatedly. */
import { failureClassOf } from '../../../src/protocol/failure-class.js';
import type { ItemResult, ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import { bulk } from '../../shared/activity-options.js';
import { jobError } from '../../shared/job-termination.js';
import { typeOf } from './budget.js';
import { type ChunkState, lostItemCode } from './chunk-state.js';
import type { Slot } from './slot.js';
import { unendedFork } from './unended-fork.js';

/**
 * After this, no workflow ends the fork of the item, and the time that the fork ran is unknown. So the whole
 * reservation counts as spent, and `left` names the fork. A stored result does not change.
 */
export async function terminatedItem(chunk: ChunkState, slot: Slot, error: unknown): Promise<ItemSummary> {
  const { index, item, costSeconds } = slot;
  const { generation, toEnd } = slot.carried;
  const { batchId } = chunk.input;
  const outcome = toEnd?.outcome ?? 'outcome_unknown';
  if (!toEnd) {
    const never = {
      queuedAt: null,
      forkedAt: null,
      usableAt: null,
      promptedAt: null,
      answeredAt: null,
      endingAt: null,
    };
    const result: ItemResult = {
      batchId,
      itemId: item.id,
      index,
      generation,
      outcome,
      failureClass: 'sandflow',
      labels: item.labels ?? {},
      type: typeOf(item, chunk.input),
      times: { ...never, endedAt: new Date().toISOString() },
      machineSeconds: costSeconds,
      job: null,
    };
    // If the store fails, this result is lost, but the batch continues.
    await bulk.storeLostItem(`${chunk.places.item(index)}/${generation}.json`, result).catch(() => undefined);
  }
  const why = error instanceof Error ? error.message : String(error);
  const lostError = jobError(
    lostItemCode,
    `The workflow of item ${index} of ${batchId} ended without a result: ${why}`,
  );
  const sandboxId = toEnd?.sandboxId ?? null;
  const lost = 'The workflow of the item was terminated repeatedly; its fork may still run.';
  return {
    index,
    generation,
    outcome,
    failureClass: toEnd ? toEnd.failureClass : failureClassOf({ outcome, error: lostError }),
    wasPrompted: toEnd?.wasPrompted,
    sandboxId,
    endedAsAsked: false,
    machineSeconds: costSeconds,
    resultRef: null,
    ending: null,
    apiCalls: 0,
    error: toEnd && outcome === 'completed' ? null : lostError,
    left: [unendedFork(chunk.input, { index, generation, sandboxId }, lost)],
  };
}
