/** Builds the input of an item's workflow. Pure. */
import { executionOf, itemStep } from '../../../src/addresses/addresses.js';
import type { FanoutPlaces } from '../../../src/addresses/fanout-addresses.js';
import { fieldOf, forkRows } from '../../../src/job-settings/fields.js';
import type { ChunkInput, ItemSource } from '../../../src/protocol/fanout/batch-parts.js';
import type {
  FanoutItem,
  FanoutItemInput,
  FanoutPolicy,
  ItemToEnd,
} from '../../../src/protocol/fanout/fanout-input.js';
import type { JobSettings } from '../../../src/protocol/job/job-input.js';
import { jobSettingsWith } from '../../../src/protocol/job/job-settings-with.js';
import { typeOf } from './budget.js';

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
  // If only the fork must still be ended, there is nothing to collect.
  const { maxGenerations, ...settings } = settingsOfItem(toEnd ? withoutFiles(item) : item, policy);
  return {
    job: {
      deployment,
      jobId: `${batchId}-${step}`,
      source: sourceOf(chunk.source, chosenOf(item, policy)),
      ...settings,
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

function withoutFiles({ collect: _, collectDiff: __, ...item }: FanoutItem): FanoutItem {
  return item;
}

/** The settings of the item, and those of the batch for what the item does not set. */
function settingsOfItem(item: FanoutItem, policy: FanoutPolicy): JobSettings {
  const ofBatch: Partial<JobSettings> = { ...policy, deadlineMs: policy.itemDeadlineMs };
  return jobSettingsWith({ ...ofBatch, end: policy.end, ...item });
}

/** Settings of the fork. */
type Chosen = Partial<Extract<ItemSource, { kind: 'fork' }>>;

/**
 * The settings of the fork that the batch and the item choose. It contains no undefined fields, because these would
 * replace settings of the source.
 */
function chosenOf(item: FanoutItem, policy: FanoutPolicy): Chosen {
  const given: Readonly<Record<string, unknown>> = { ...policy, ...item };
  const chosen = Object.entries(forkRows()).flatMap(([key, row]) => {
    const field = fieldOf(key, row);
    return given[field] == null ? [] : [[field, given[field]]];
  });
  return { ...policy.forkBody, ...Object.fromEntries(chosen) };
}

function sourceOf(source: ItemSource, chosen: Chosen): ItemSource {
  return source.kind === 'fork' ? { ...source, ...chosen } : { ...source, body: { ...source.body, ...chosen } };
}
