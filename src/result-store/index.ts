/** Stores for outputs that are too large for history. */
export { createResultStore } from './create-store.js';
export { type FanoutPlace, fanoutItemResults, readItemResult } from './fanout-objects.js';
export type { DatedObject, ListedObject, ResultStore, StoredObject } from './result-store.js';
