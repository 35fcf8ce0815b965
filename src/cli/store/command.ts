import { type AddCommand, lazily } from '../command.js';
import { declareClean, declareCopy, declareStore } from './options.js';

/** `sandflow store`: moves the stores of workers, and removes what nobody needs any more. */
export const addStore: AddCommand = (parent, context) => {
  const store = declareStore(parent);
  declareCopy(store).action(lazily(context, async () => (await import('./copy-stores.js')).copyStores));
  declareClean(store).action(lazily(context, async () => (await import('./clean-store.js')).cleanStore));
};
