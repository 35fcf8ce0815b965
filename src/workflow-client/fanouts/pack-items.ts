/** Packs items into chunks, each up to the maximum count and size of a chunk. */

import type { ChunkSubmission } from '../../protocol/fanout/batch-parts.js';
import type { FanoutItem, FanoutPolicy } from '../../protocol/fanout/fanout-input.js';
import { maxChunks, maxItemsInChunk, usualBytesInChunk } from '../../protocol/limits.js';
import type { ResultStore } from '../../result-store/index.js';
import { contentDigest } from '../input-digest.js';
import { keepItemTexts } from '../store-texts.js';
import { bad, badItem, checkItemSize, itemBytes, parseFanoutItem } from './fanout-input.js';

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

/**
 * Packs items into chunks. The same items in the same order always give the same chunks. Holds only one chunk in
 * memory.
 * @param options `results`: the store for long texts, shared with the workers
 * @throws SandflowError `bad_fanout_input` for an invalid item, a duplicate id, or too many chunks
 */
export async function* packItems(
  items: Iterable<FanoutItem> | AsyncIterable<FanoutItem>,
  options: { readonly policy?: Pick<FanoutPolicy, 'budgetSeconds'>; readonly results?: ResultStore | undefined } = {},
): AsyncGenerator<ChunkSubmission> {
  const seen = new Set<string>();
  let chunk = 0;
  let index = 0;
  let held: FanoutItem[] = [];
  let heldBytes = wrappingBytes;

  const take = (): ChunkSubmission => {
    const wish = { chunk, firstIndex: index - held.length, digest: contentDigest(held), items: held };
    if (chunk >= maxChunks)
      throw bad(
        `The batch is too large: its items take more than ${maxChunks} chunks. Split it, or put long texts into files of the result store.`,
      );
    chunk += 1;
    held = [];
    heldBytes = wrappingBytes;
    return wish;
  };

  for await (const raw of items) {
    const item = await itemToSubmit(raw, index, options);
    if (seen.has(item.id)) throw bad(`Item ${index + 1} cannot be submitted: the id "${item.id}" is a duplicate.`);
    seen.add(item.id);
    const bytes = itemBytes(item);
    if (held.length === maxItemsInChunk || (held.length > 0 && heldBytes + bytes > usualBytesInChunk)) yield take();
    held.push(item);
    heldBytes += bytes;
    index += 1;
  }
  if (held.length > 0) yield take();
}
