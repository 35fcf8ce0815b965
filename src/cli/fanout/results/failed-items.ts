/** Finds the items of a batch that failed, before and during a watch. */
import { SandflowError } from '../../../errors/sandflow-error.js';
import type { ItemResult } from '../../../protocol/fanout/fanout-result.js';
import { reasonOf } from '../../../report/failures.js';
import { type FanoutPlace, itemResultObjects } from '../../../result-store/fanout-objects.js';
import type { ResultStore } from '../../../result-store/index.js';
import type { ListedObject } from '../../../result-store/result-store.js';
import { readStoredJson } from '../../../result-store/stored-json.js';
import type { ItemRow } from '../progress/shown-items.js';

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
   * @param wanted how many items that failed before the first poll are looked for, as long as there is room: each poll may
   * want more
   * Never throws: the lists may be incomplete.
   */
  look(wanted?: number): Promise<FailuresSeen>;
}

export function createFailedItems(store: Pick<ResultStore, 'list' | 'get'>, batch: FanoutPlace): FailedItems {
  let seen: Set<string> | undefined;
  /** Results from before the first poll that were not read, the newest first. */
  let earlier: ListedObject[] = [];
  /** Oldest first, those from before the first poll apart. */
  const earlierFailures = new Map<number, ItemRow>();
  let failures = new Map<number, ItemRow>();
  /** Results that could not be read, but that the next poll may read. */
  const later = new Set<string>();
  /** The newest generation that was read, by the place of its item. */
  const generations = new Map<number, number>();
  let hasMore = false;

  /** One result that cannot be read must not hide the others. */
  async function read({ key, ref }: ListedObject, into: Map<number, ItemRow>): Promise<ItemRow | undefined> {
    later.delete(key);
    const { index, generation } = placeOf({ key });
    if (generation < (generations.get(index) ?? 0)) return;
    let item: ItemResult;
    try {
      item = await readStoredJson<ItemResult>(store, ref);
    } catch (error) {
      // Such an error says that no read will show another content.
      if (!(error instanceof SandflowError)) later.add(key);
      return;
    }
    generations.set(index, generation);
    earlierFailures.delete(index);
    failures.delete(index);
    if (item.outcome === 'completed' || item.outcome === 'cancelled' || item.outcome === 'not_started') return;
    const row = failureRow(item);
    into.set(index, row);
    return row;
  }

  async function newest(wanted: number): Promise<ItemRow[]> {
    const fresh = await readFresh();
    while (earlier.length > 0 && earlierFailures.size + failures.size < wanted) {
      const [object] = earlier.splice(0, 1);
      if (object) await read(object, earlierFailures);
    }
    return fresh;
  }

  async function readFresh(): Promise<ItemRow[]> {
    const objects = await itemResultObjects(store, batch);
    if (!seen) {
      seen = new Set(objects.map(({ key }) => key));
      earlier = lastOfEach(objects).slice(-readAtFirst).reverse();
      return [];
    }
    const known = seen;
    const fresh: ItemRow[] = [];
    const isLate = ({ key }: ListedObject) => (later.has(key) ? 1 : 0);
    const unread = objects.filter(({ key }) => !known.has(key) || later.has(key)).sort((a, b) => isLate(a) - isLate(b));
    for (const object of unread.slice(0, readAtOnce)) {
      known.add(object.key);
      const row = await read(object, failures);
      if (row) fresh.push(row);
    }
    failures = new Map([...failures].slice(-keptAtMost));
    hasMore = unread.length > readAtOnce;
    return fresh;
  }

  return {
    async look(wanted = 0) {
      const fresh = await newest(wanted).catch(() => []);
      const all = [...[...failures.values()].reverse(), ...earlierFailures.values()];
      return { fresh, all, ...((hasMore || later.size > 0) && { hasMore: true }) };
    },
  };
}

function placeOf({ key }: Pick<ListedObject, 'key'>): { readonly index: number; readonly generation: number } {
  const [index = 0, generation = 0] = (/\/(\d+)\/(\d+)\.json$/.exec(key) ?? []).slice(1).map(Number);
  return { index, generation };
}

/** The newest result of each item, in the order of the batch. */
function lastOfEach(objects: readonly ListedObject[]): ListedObject[] {
  const newest = new Map<number, { readonly object: ListedObject; readonly generation: number }>();
  for (const object of objects) {
    const { index, generation } = placeOf(object);
    if (generation >= (newest.get(index)?.generation ?? 0)) newest.set(index, { object, generation });
  }
  return [...newest].sort(([a], [b]) => a - b).map(([, { object }]) => object);
}

function failureRow({ index, itemId, outcome, failureClass, generation, job, times }: ItemResult): ItemRow {
  const attempt = generation > 1 ? [`at attempt ${generation}`] : [];
  const text = [failureClass ?? '', ...attempt, reasonOf({ job }) ?? ''].filter((part) => part !== '').join(', ');
  const since = times.answeredAt ?? times.endingAt ?? times.endedAt;
  return { index, itemId, phase: outcome, since, text };
}
