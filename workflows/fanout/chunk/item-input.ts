/** Builds the input of an item's workflow. Pure. */
import { executionOf, itemStep } from '../../../src/addresses/addresses.js';
import type { FanoutPlaces } from '../../../src/addresses/fanout-addresses.js';
import type { OtherFields } from '../../../src/contract/workflow-safe/other-fields.js';
import type { ChunkInput, ItemSource } from '../../../src/protocol/fanout/batch-parts.js';
import type {
  FanoutItem,
  FanoutItemInput,
  FanoutPolicy,
  ItemToEnd,
} from '../../../src/protocol/fanout/fanout-input.js';
import { typeOf } from './budget.js';

/**
 * If the service finds no machine for a fork, the fork becomes `cancelled`, and the item's next generation tries again.
 */
const maxGenerations = 3;

export function itemInput(
  chunk: ChunkInput,
  slot: {
    readonly index: number;
    readonly item: FanoutItem;
    readonly generation: number;
    readonly lookFirst: boolean;
    readonly queuedAt: string;
    readonly toEnd: ItemToEnd | null;
  },
  places: FanoutPlaces,
): FanoutItemInput {
  const { deployment, batchId, batchKey, policy, timing, startsFrom } = chunk;
  const { index, item, generation, lookFirst, queuedAt, toEnd } = slot;
  const step = itemStep(index);
  return {
    job: {
      deployment,
      jobId: `${batchId}-${step}`,
      source: sourceOf(chunk.source, chosenOf(item, policy)),
      waitFor: policy.waitFor ?? 'usable',
      put: item.put ?? [],
      prompts: item.prompts,
      conversations: policy.conversations ?? 'one',
      ...(policy.conversationId !== undefined && { conversationId: policy.conversationId }),
      // If only the fork must still be ended, there is nothing to collect.
      collect: toEnd ? [] : (item.collect ?? []),
      ...(!toEnd && item.collectDiff !== undefined && { collectDiff: item.collectDiff }),
      end: item.end ?? policy.end,
      deadlineMs: item.deadlineMs ?? policy.itemDeadlineMs,
      ttlSeconds: policy.ttlSeconds,
      onUnknownOutcome: policy.onUnknownOutcome,
      ...(policy.escalate && { escalate: policy.escalate }),
      maxGenerations,
      origin: {
        key: batchKey,
        execution: executionOf(batchKey),
        batchId,
        step,
        firstGeneration: generation,
        lookFirst,
        records: places.item(index),
        ...(startsFrom && { startsFrom }),
      },
      timing,
    },
    batchId,
    itemId: item.id,
    index,
    labels: item.labels ?? {},
    type: typeOf(item, chunk),
    queuedAt,
    resultPrefix: places.item(index),
    chunkWorkflowId: places.chunkWorkflow(chunk.chunk),
    ...(toEnd && { toEnd }),
  };
}

type Chosen = Pick<FanoutPolicy, 'snapshots' | 'monitoring'> & Pick<FanoutItem, 'type'> & OtherFields;

/**
 * The settings of the fork that the batch and the item choose. It contains no undefined fields, because these would
 * replace settings of the source.
 */
function chosenOf(item: FanoutItem, { type: ofBatch, snapshots, monitoring, forkBody }: FanoutPolicy): Chosen {
  const type = item.type ?? ofBatch;
  return {
    ...forkBody,
    ...(type !== null && { type }),
    ...(snapshots !== undefined && { snapshots }),
    ...(monitoring !== undefined && { monitoring }),
  };
}

function sourceOf(source: ItemSource, chosen: Chosen): ItemSource {
  return source.kind === 'fork' ? { ...source, ...chosen } : { ...source, body: { ...source.body, ...chosen } };
}
