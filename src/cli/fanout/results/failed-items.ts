/** Finds the items of a batch that fail during a watch. */
import type { ItemResult } from '../../../../workflows/fanout/result.js';
import { type FanoutPlace, itemResultObjects } from '../../../result-store/fanout-objects.js';
import type { ResultStore } from '../../../result-store/index.js';
import type { FailedItem } from '../progress/batch-view.js';

/** Maximum number of results that one poll reads. If more items fail at once, only some of them are shown. */
const readAtOnce = 40;

export interface FailedItems {
  /**
   * Returns the items that failed since the last poll; the first poll returns none. Never throws: the list may be
   * incomplete.
   */
  look(): Promise<readonly FailedItem[]>;
}

export function createFailedItems(store: Pick<ResultStore, 'list' | 'get'>, batch: FanoutPlace): FailedItems {
  let seen: Set<string> | undefined;

  async function newest(): Promise<FailedItem[]> {
    const objects = await itemResultObjects(store, batch);
    const before = seen;
    seen = new Set(objects.map(({ key }) => key));
    if (!before) return [];
    const failed: FailedItem[] = [];
    for (const { ref } of objects.filter(({ key }) => !before.has(key)).slice(0, readAtOnce)) {
      const item = JSON.parse((await store.get(ref)).toString('utf8')) as ItemResult;
      if (item.outcome === 'completed' || item.outcome === 'cancelled' || item.outcome === 'not_started') continue;
      failed.push({ itemId: item.itemId, text: failureText(item) });
    }
    return failed;
  }

  return { look: () => newest().catch(() => []) };
}

/** What the job of an item says about its failure; empty or missing if it says nothing. */
export function reasonOf({ job }: Pick<ItemResult, 'job'>): string | null | undefined {
  return job?.error?.message ?? job?.prompts.find(({ error }) => error !== null)?.error;
}

/** Why an item failed, in one line. */
export function failureText({ outcome, generation, job }: Pick<ItemResult, 'outcome' | 'generation' | 'job'>): string {
  const reason = reasonOf({ job });
  return [outcome, ...(generation > 1 ? [`at attempt ${generation}`] : []), ...(reason ? [reason] : [])].join(', ');
}
