/** Reading of the items of a batch: text, JSONL, JSON, CSV; templates; a matrix. */

export { ItemsError } from './item-line.js';
export { type ItemWish, type Matrix, matrixSize } from './matrix.js';
export {
  formatOf,
  type ItemFormat,
  type ItemSource,
  type ReadItemsOptions,
  readItems,
} from './read-items.js';
