import { untilAborted } from '../../src/os/aborted.js';
import { timeLimit } from '../../src/os/any-signal.js';
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
  const limit = timeLimit(ms);
  return untilAborted(limit, (signal) => results.put(key, content, { signal })).catch((error: unknown) => {
    throw limit.aborted ? new Error(`The result store did not answer within ${ms / 1_000} s.`) : error;
  });
}
