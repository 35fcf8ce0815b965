/** Reading of the items of a batch: kinds of files, text, JSONL, JSON, CSV; templates; a matrix. */

export { type ItemFormat, kindOf } from './file-kinds.js';
export { ItemsError, type NamedAs, type SourceWish } from './item-line.js';
export type { ItemWish, Matrix } from './matrix.js';
export {
  type ItemSource,
  type ReadItemsOptions,
  readItems,
} from './read-items.js';
