/**
 * The folders for the files of items on this machine. Results are not trusted, not even their types, because anyone who can
 * write to Temporal can store one. No path leads outside the folder.
 */
import { join, posix } from 'node:path';
import type { ItemResult } from '../../../../workflows/fanout/types.js';

/**
 * A folder for each item, readable, and never the same for two.
 * @throws Error for an item without a number
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

/** The path of a collected file below the folder of its item. */
export function placeBelow(folder: string, remotePath: string): string {
  // An absolute path normalized cannot climb above its root.
  const inside = posix.normalize(`/${remotePath.replaceAll('\0', '')}`).slice(1);
  return join(folder, inside === '' ? 'file' : inside);
}
