/** Stores for outputs that are too large for history. */
export { createResultStore } from './directory-store.js';
export type { ResultStore, StoredObject } from './result-store.js';
