/**
 * Names the folders for the files of items on this machine. Results are not trusted, not even their types, because
 * anyone who can write to Temporal can store a result. No path leads outside the folder.
 */
import type { ItemResult } from '../../../protocol/fanout/fanout-result.js';

/**
 * Returns a function that names a readable folder for each item. No two items get the same folder. The function throws
 * if an item has no number.
 */
export function createItemFolders(): (item: Pick<ItemResult, 'itemId' | 'index'>) => string {
  const taken = new Map<string, number>();
  return ({ itemId, index }) => {
    if (!Number.isSafeInteger(index)) throw new Error('the item has no number');
    const readable = itemId
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 80);
    // A file system may ignore case.
    const key = readable.toLowerCase();
    const folder = readable !== '' && (taken.get(key) ?? index) === index ? readable : `${readable}~${index}`;
    taken.set(folder.toLowerCase(), index);
    return folder;
  };
}
