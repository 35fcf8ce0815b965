/** Stores the result of an item in the activity that ends its fork: an activity of its own would cost more events. */
import type { ResultStore } from '../../src/result-store/index.js';
import { storedJson } from '../../src/result-store/stored-json.js';
import { putWithin } from './put-within.js';

export interface ResultToStore {
  readonly key: string;
  readonly content: object;
  /** Until then, in ms since the epoch, the sandbox waits for the store. */
  readonly untilMs: number;
}

/**
 * Writes the result before the sandbox ends. Safe to repeat.
 * @param options.writeMs limit of one write, in ms
 * @returns its reference; null if the time is over, since a store that fails must not keep the sandbox running for ever
 * @throws the error of the store while there is time, so that Temporal repeats the attempt
 */
export async function storeBeforeEnd(
  results: Pick<ResultStore, 'put'>,
  { key, content, untilMs }: ResultToStore,
  { writeMs = 10_000 }: { readonly writeMs?: number } = {},
): Promise<string | null> {
  try {
    return (await putWithin(writeMs, results, { key, content: storedJson(content) })).ref;
  } catch (error) {
    if (Date.now() < untilMs) throw error;
    return null;
  }
}
