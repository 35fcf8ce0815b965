import { setTimeout as sleep } from 'node:timers/promises';
import type { ResultStore, StoredObject } from '../../src/result-store/index.js';

/**
 * Writes to the result store with a time limit, in ms, because a store that hangs must not keep a sandbox running. After
 * that, the write must not replace what the next attempt stores.
 * @throws the error of the store, or one that says how long it did not answer
 */
export async function putWithin(
  ms: number,
  results: Pick<ResultStore, 'put'>,
  { key, content }: { readonly key: string; readonly content: Uint8Array },
): Promise<StoredObject> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).then(() => {
    throw new Error(`The result store did not answer within ${ms / 1_000} s.`);
  });
  try {
    return await Promise.race([results.put(key, content, { signal: over.signal }), late]);
  } finally {
    late.catch(() => undefined);
    over.abort();
  }
}
