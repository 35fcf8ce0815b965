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
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      over.abort();
      reject(new Error(`The result store did not answer within ${ms / 1_000} s.`));
    }, ms);
  });
  try {
    return await Promise.race([results.put(key, content, { signal: over.signal }), late]);
  } finally {
    clearTimeout(timer);
  }
}
