/** Stores for outputs that are too large for history. */
export { createResultStore, type ListedObject, type ResultStore, type StoredObject } from './directory-store.js';
export { type FanoutPlace, fanoutItemResults, readItemResult } from './fanout-objects.js';
