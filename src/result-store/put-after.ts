/**
 * Puts an object that may replace another one only after something else: the record of a prompt after Temporal has its
 * intent. It is no method of `ResultStore`: a store that wraps another by its methods would be passed by.
 */
import type { ResultStore, StoredObject } from './result-store.js';

type Put = ResultStore['put'];
type PutAfter = (after: Promise<unknown>, ...put: Parameters<Put>) => Promise<StoredObject>;

const ofStores = new WeakMap<Pick<ResultStore, 'put'>, PutAfter>();

/** Says how this store puts such an object, if it can do a part before. Default: it waits. */
export function preparing<Store extends ResultStore>(store: Store, put: PutAfter): Store {
  ofStores.set(store, put);
  return store;
}

/** Like `put`, but replaces nothing before `after` has resolved. If that fails, stores nothing, and throws its error. */
export async function putAfter(
  store: Pick<ResultStore, 'put'>,
  ...[after, ...given]: Parameters<PutAfter>
): Promise<StoredObject> {
  // The store may fail first, and then waits for it no more.
  after.catch(() => undefined);
  const put = ofStores.get(store);
  if (put) return put(after, ...given);
  await after;
  return store.put(...given);
}
