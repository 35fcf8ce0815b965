/** Finds the items of a batch that failed, before and during a watch. */
import type { ItemResult } from '../../../protocol/fanout/fanout-result.js';
import type { ListedObject } from '../../../result-store/directory-store.js';
import { type FanoutPlace, itemResultObjects } from '../../../result-store/fanout-objects.js';
import type { ResultStore } from '../../../result-store/index.js';
import { readStoredJson } from '../../../result-store/stored-json.js';
import type { ItemRow } from '../progress/item-table.js';

/** Maximum number of results that one poll reads. The next poll goes on. */
const readAtOnce = 40;
/** Maximum number of results that are read to find earlier failures. */
const readAtFirst = 1_000;
/** More than any terminal shows. */
const keptAtMost = 200;

export interface FailuresSeen {
  /** Those that failed since the last poll; none at the first poll. */
  readonly fresh: readonly ItemRow[];
  /** The newest failures, newest first, without items whose retry has completed since. */
  readonly all: readonly ItemRow[];
  /** True if more results wait for the next poll. Default: false. */
  readonly hasMore?: boolean;
}

export interface FailedItems {
  /**
   * @param earlier how many items that failed before the first poll are looked for
   * Never throws: the lists may be incomplete.
   */
  look(earlier?: number): Promise<FailuresSeen>;
}

export function createFailedItems(store: Pick<ResultStore, 'list' | 'get'>, batch: FanoutPlace): FailedItems {
  let seen: Set<string> | undefined;
  let failures = new Map<number, ItemRow>();
  let hasMore = false;

  async function read({ ref }: ListedObject): Promise<ItemRow | undefined> {
    const item = await readStoredJson<ItemResult>(store, ref);
    failures.delete(item.index);
    if (item.outcome === 'completed' || item.outcome === 'cancelled' || item.outcome === 'not_started') return;
    const row = failureRow(item);
    failures.set(item.index, row);
    return row;
  }

  async function newest(earlier: number): Promise<ItemRow[]> {
    const objects = await itemResultObjects(store, batch);
    if (!seen) {
      seen = new Set(objects.map(({ key }) => key));
      const known = lastOfEach(objects).slice(-readAtFirst).reverse();
      for (const object of known) if (failures.size < earlier) await read(object);
      failures = new Map([...failures].reverse());
      return [];
    }
    const known = seen;
    const fresh: ItemRow[] = [];
    const unread = objects.filter(({ key }) => !known.has(key));
    hasMore = unread.length > readAtOnce;
    for (const object of unread.slice(0, readAtOnce)) {
      known.add(object.key);
      const row = await read(object);
      if (row) fresh.push(row);
    }
    failures = new Map([...failures].slice(-keptAtMost));
    return fresh;
  }

  return {
    async look(earlier = 0) {
      const fresh = await newest(earlier).catch(() => []);
      return { fresh, all: [...failures.values()].reverse(), ...(hasMore && { hasMore }) };
    },
  };
}

/** The newest result of each item, in the order of the batch. */
function lastOfEach(objects: readonly ListedObject[]): ListedObject[] {
  const placeOf = ({ key }: ListedObject) => (/\/(\d+)\/(\d+)\.json$/.exec(key) ?? []).slice(1).map(Number);
  const newest = new Map<number, { readonly object: ListedObject; readonly generation: number }>();
  for (const object of objects) {
    const [index = 0, generation = 0] = placeOf(object);
    if (generation >= (newest.get(index)?.generation ?? 0)) newest.set(index, { object, generation });
  }
  return [...newest].sort(([a], [b]) => a - b).map(([, { object }]) => object);
}

/** What the job of an item says about its failure, or why it is unknown; empty or missing if nothing does. */
export function reasonOf({ job, unreadable }: Pick<ItemResult, 'job' | 'unreadable'>): string | null | undefined {
  return unreadable ?? job?.error?.message ?? job?.prompts.find(({ error }) => error !== null)?.error;
}

function failureRow({ index, itemId, outcome, generation, job, times }: ItemResult): ItemRow {
  const attempt = generation > 1 ? [`at attempt ${generation}`] : [];
  const text = [...attempt, reasonOf({ job }) ?? ''].filter((part) => part !== '').join(', ');
  const since = times.answeredAt ?? times.endingAt ?? times.endedAt;
  return { index, itemId, phase: outcome, since, text };
}
