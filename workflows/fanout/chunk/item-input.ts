/** Builds the input of an item's workflow. Pure. */
import { executionOf, itemStep } from '../../../src/contract/addresses.js';
import type { FanoutPlaces } from '../../../src/contract/fanout-addresses.js';
import type { ChunkInput, ItemSource } from '../protocol.js';
import type { FanoutItem, FanoutItemInput, ItemToEnd } from '../types.js';
import { typeOf } from './budget.js';

/** A fork that finds no machine becomes `cancelled` and is retried as the item's next generation. */
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
  const { deployment, batchId, batchKey, policy, timing } = chunk;
  const { index, item, generation, lookFirst, queuedAt, toEnd } = slot;
  const step = itemStep(index);
  return {
    job: {
      deployment,
      jobId: `${batchId}-${step}`,
      source: sourceOf(chunk.source, item.type ?? policy.type ?? undefined),
      waitFor: 'usable',
      put: item.put ?? [],
      prompts: item.prompts,
      conversations: 'one',
      // If only the fork remains to be ended, collecting is over.
      collect: toEnd ? [] : (item.collect ?? []),
      end: item.end ?? policy.end,
      deadlineMs: item.deadlineMs ?? policy.itemDeadlineMs,
      ttlSeconds: policy.ttlSeconds,
      onUnknownOutcome: policy.onUnknownOutcome,
      maxGenerations,
      origin: {
        key: batchKey,
        execution: executionOf(batchKey),
        batchId,
        step,
        firstGeneration: generation,
        lookFirst,
        records: places.item(index),
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

function sourceOf(source: ItemSource, type: FanoutItem['type']): ItemSource {
  if (type === undefined) return source;
  return source.kind === 'fork' ? { ...source, type } : { ...source, body: { ...source.body, type } };
}
