/** Packs items into chunks, each up to the maximum count and size of a chunk. */

import type { ChunkSubmission } from '../../protocol/fanout/batch-parts.js';
import type { FanoutItem, FanoutPolicy, FanoutSource, NewFanoutItem } from '../../protocol/fanout/fanout-input.js';
import { maxChunks, maxItemsInChunk, usualBytesInChunk } from '../../protocol/limits.js';
import type { ResultStore } from '../../result-store/index.js';
import { payloadBytes } from '../../texts/length.js';
import { contentDigest } from '../input-digest.js';
import { keepItemTexts, keepSourceTexts } from '../store-texts.js';
import {
  bad,
  badItem,
  checkItemSize,
  checkSourceSize,
  itemBytes,
  parseFanoutItem,
  parseItemSource,
} from './fanout-input.js';

/** The size of a chunk without its items, in bytes. */
const wrappingBytes = 1_000;

interface ItemToSubmitOptions {
  readonly policy?: Pick<FanoutPolicy, 'budgetSeconds'>;
  readonly results?: ResultStore | undefined;
  /** The error of an item that is wrong. Default: SandflowError `bad_fanout_input` */
  readonly refuse?: (why: string) => Error;
}

/** Checks an item and moves its long texts into the result store. @throws the error of `refuse` */
export async function itemToSubmit(
  raw: FanoutItem,
  index: number,
  { policy, results, refuse = (why) => badItem(index, why) }: ItemToSubmitOptions,
): Promise<FanoutItem> {
  const { columns, ...parsed } = parseFanoutItem(raw, index, policy, refuse);
  // Only a resume that shares the store can change an item. Without the store, columns could make an item too large.
  const lasting = results && columns ? { ...parsed, columns } : parsed;
  const item = await keepItemTexts(lasting, { results, refuse });
  checkItemSize(item, refuse);
  return item;
}

/**
 * Checks an item of a stored chunk that has changed, and moves its texts into the result store until the whole chunk is
 * small enough again.
 * @throws the error of `refuse`
 */
export async function changedItem(
  raw: FanoutItem,
  {
    results,
    itemsInChunk,
    refuse,
  }: { readonly results: ResultStore; readonly itemsInChunk: number; readonly refuse: (why: string) => Error },
): Promise<FanoutItem> {
  const roomBytes = Math.floor(usualBytesInChunk / itemsInChunk);
  const item = await keepItemTexts(parseFanoutItem(raw, 0, undefined, refuse), { results, roomBytes, refuse });
  checkItemSize(item, refuse);
  return item;
}

interface PackOptions extends Omit<ItemToSubmitOptions, 'policy' | 'refuse'> {
  readonly policy?: Pick<FanoutPolicy, 'budgetSeconds' | 'conversationId' | 'conversations'>;
  /** The source of the batch. Undefined: each item names its own. */
  readonly source: FanoutSource | undefined;
}

/**
 * Why a batch is too large, whatever its texts; undefined if it may not be.
 * @param itemsOfSources how many items each source has
 */
export function tooManyChunks(itemsOfSources: readonly number[]): string | undefined {
  const least = itemsOfSources.reduce((sum, items) => sum + Math.ceil(items / maxItemsInChunk), 0);
  if (least <= maxChunks) return undefined;
  return `The batch is too large: its items take ${least} chunks, each of one source and of at most ${maxItemsInChunk} items, and the limit is ${maxChunks}. Split the batch.`;
}

/** Items with one source. */
interface SourceGroup {
  /** Undefined: that of the batch. */
  readonly source: FanoutSource | undefined;
  /** Those that wait until all items are read. */
  readonly items: FanoutItem[];
}

/**
 * Packs items into chunks, by source in the order in which the sources first appear. The same items in the same order
 * always give the same chunks. Checks all items of an array before the first chunk. Otherwise holds one chunk in memory,
 * and the items of all sources but the first.
 * @param options `results`: the store for long texts, shared with the workers
 * @throws SandflowError `bad_fanout_input` for an invalid item or source, a duplicate id, or too many chunks
 */
export async function* packItems(
  items: Iterable<NewFanoutItem> | AsyncIterable<NewFanoutItem>,
  options: PackOptions,
): AsyncGenerator<ChunkSubmission> {
  const seen = new Set<string>();
  const groups = new Map<string, SourceGroup>();
  const ofBatch = options.source && contentDigest(options.source);
  const packing = createPacking();
  let index = 0;
  for await (const { source: given, ...raw } of items) {
    const at = index;
    const refuse = (why: string) => badItem(at, why);
    const own = given && parseItemSource(given, options.policy ?? {}, refuse);
    if (!own && !options.source) throw refuse('it names no source, and the batch has none');
    const item = await itemToSubmit(raw, index, options);
    if (seen.has(item.id)) throw bad(`Item ${index + 1} cannot be submitted: the id "${item.id}" is a duplicate.`);
    seen.add(item.id);
    index += 1;
    const key = (own && contentDigest(own)) ?? ofBatch ?? '';
    const isFirst = !Array.isArray(items) && (groups.size === 0 || groups.keys().next().value === key);
    const group = groups.get(key) ?? {
      source: own && key !== ofBatch ? await sourceToSubmit(own, options, refuse) : undefined,
      items: [],
    };
    groups.set(key, group);
    if (isFirst) yield* packing.add(item, group.source);
    else group.items.push(item);
  }
  const problem = tooManyChunks([...groups.values()].map((group) => group.items.length));
  if (problem) throw bad(problem);
  yield* packing.end();
  for (const group of groups.values()) {
    for (const item of group.items) yield* packing.add(item, group.source);
    yield* packing.end();
  }
}

async function sourceToSubmit(
  source: FanoutSource,
  { results }: Pick<PackOptions, 'results'>,
  refuse: (why: string) => Error,
): Promise<FanoutSource> {
  const kept = await keepSourceTexts(source, { results, refuse });
  checkSourceSize(kept, refuse);
  return kept;
}

/** Fills one chunk after the other. */
function createPacking() {
  let [chunk, index, heldBytes] = [0, 0, 0];
  let held: FanoutItem[] = [];
  let source: FanoutSource | undefined;

  function* end(): Generator<ChunkSubmission> {
    if (held.length === 0) return;
    if (chunk >= maxChunks)
      throw bad(
        `The batch is too large: its items take more than ${maxChunks} chunks. Split it, or put long texts into files of the result store.`,
      );
    const digest = contentDigest(source ? { source, items: held } : held);
    yield { chunk, firstIndex: index - held.length, digest, items: held, ...(source && { source }) };
    chunk += 1;
    held = [];
  }

  return {
    end,
    /** Yields the chunk before, if the item does not fit into it. */
    *add(item: FanoutItem, itsSource: FanoutSource | undefined): Generator<ChunkSubmission> {
      const bytes = itemBytes(item);
      if (held.length === maxItemsInChunk || heldBytes + bytes > usualBytesInChunk) yield* end();
      source = itsSource;
      if (held.length === 0) heldBytes = wrappingBytes + (source ? payloadBytes(source) : 0);
      held.push(item);
      heldBytes += bytes;
      index += 1;
    },
  };
}
