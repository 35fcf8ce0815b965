/** Keeps what a workflow has found out in the result store, whole, where history has no room for it. */
import type { ResultStore } from '../../src/result-store/index.js';

/** Writes `content` under `key` and gives its reference: text as it is, anything else as JSON. Safe to repeat. */
export function storeObjectActivity(results: ResultStore) {
  return async function storeObject(key: string, content: unknown): Promise<string> {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const { ref } = await results.put(key, Buffer.from(text));
    return ref;
  };
}
