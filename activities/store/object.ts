/** Stores values of a workflow that are too large for history in the result store. */
import type { ResultStore } from '../../src/result-store/index.js';

/** Writes `content` under `key`: text unchanged, anything else as JSON. @returns its reference. Safe to repeat. */
export function storeObjectActivity(results: ResultStore) {
  return async function storeObject(key: string, content: unknown): Promise<string> {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const { ref } = await results.put(key, Buffer.from(text));
    return ref;
  };
}
