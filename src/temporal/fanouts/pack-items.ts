/** Packs items into chunks: as many as fit the count and the bytes that a chunk may have. */

import type { ChunkSubmission } from '../../../workflows/fanout/protocol.js';
import type { FanoutItem, FanoutPolicy } from '../../../workflows/fanout/types.js';
import { maxBytesInChunk, maxChunks, maxItemsInChunk, usualBytesInChunk } from '../../contract/fanout-addresses.js';
import type { ResultStore } from '../../result-store/index.js';
import { contentDigest } from '../input-digest.js';
import { keepItemTexts } from '../store-texts.js';
import { bad, badItem, checkItemSize, itemBytes, parseFanoutItem } from './input.js';

/** What a chunk has beside its items. */
const wrappingBytes = 1_000;

/** A digest of the items of a chunk, so that other items under its number are noticed: of their texts, wherever they are. */
export function itemsDigest(items: readonly FanoutItem[]): string {
  return contentDigest(items);
}

/** What is submitted of an item: checked, its long texts in the result store. @throws SandflowError `bad_fanout_input` */
export async function itemToSubmit(
  raw: FanoutItem,
  index: number,
  options: { readonly policy?: Pick<FanoutPolicy, 'budgetSeconds'>; readonly results?: ResultStore | undefined },
): Promise<FanoutItem> {
  const { results, policy } = options;
  const refuse = (why: string) => badItem(index, why);
  const item = await keepItemTexts(parseFanoutItem(raw, index, policy), { results, refuse });
  checkItemSize(item, index);
  return item;
}

/** @throws SandflowError `bad_fanout_input` if these items are no chunk, or too large for one */
export function checkChunk(chunk: number, items: readonly FanoutItem[]): void {
  const refuse = (why: string) => bad(`Chunk ${chunk} cannot be submitted: ${why}`);
  if (items.length === 0 || items.length > maxItemsInChunk) {
    throw refuse(`it has ${items.length} items, and a chunk has 1 to ${maxItemsInChunk}. ${mend}`);
  }
  const bytes = wrappingBytes + items.reduce((sum, item) => sum + itemBytes(item), 0);
  if (bytes > maxBytesInChunk) throw refuse(`its items take ${bytes} bytes, the most is ${maxBytesInChunk}. ${mend}`);
}

const mend = 'Make more chunks of them, as `submitFanout` does.';

/**
 * The same items in the same order always make the same chunks. Holds one chunk at a time.
 * @param options `results`: where long texts go, shared with the workers
 * @throws SandflowError `bad_fanout_input` for an item that is none, an id that comes twice, or too many chunks
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
    const wish = { chunk, firstIndex: index - held.length, digest: itemsDigest(held), items: held };
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
    if (seen.has(item.id)) throw bad(`Item ${index + 1} cannot be submitted: the id "${item.id}" comes twice.`);
    seen.add(item.id);
    const bytes = itemBytes(item);
    if (held.length === maxItemsInChunk || (held.length > 0 && heldBytes + bytes > usualBytesInChunk)) yield take();
    held.push(item);
    heldBytes += bytes;
    index += 1;
  }
  if (held.length > 0) yield take();
}
