/** What is left of an item whose workflow ended without an answer. */

import { fanoutPlaces } from '../src/contract/fanout-addresses.js';
import { type FanoutPlace, readItemResult } from '../src/result-store/fanout-objects.js';
import type { ResultStore } from '../src/result-store/index.js';
import type { ItemResult } from '../workflows/fanout.js';

export interface LostItemInput {
  readonly place: FanoutPlace;
  /** What counts where it left nothing. */
  readonly fallback: ItemResult;
}

/**
 * The result that the generation left before its workflow was ended from outside; where it left none, the fallback is
 * stored as its result. Safe to repeat.
 */
export function settleLostItemActivity(results: ResultStore) {
  return async function settleLostItem({ place, fallback }: LostItemInput): Promise<Pick<ItemResult, 'generation'>> {
    const { index, generation } = fallback;
    const left = await readItemResult(results, place, index);
    if (left && left.generation >= generation) return { generation: left.generation };
    const key = `${fanoutPlaces(place).item(index)}/${generation}.json`;
    await results.put(key, Buffer.from(JSON.stringify(fallback)));
    return { generation };
  };
}
