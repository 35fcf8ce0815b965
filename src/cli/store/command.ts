import type { AddCommand } from '../command.js';
import { declareClean, declareCopy, declareStore } from './options.js';

/** `sandflow store`: moves the stores of workers, and removes what nobody needs any more. */
export const addStore: AddCommand = (parent, context) => {
  const store = declareStore(parent);
  declareCopy(store).action(async ({ to }) => {
    const { copyStores } = await import('./copy-stores.js');
    context.exitCode = await copyStores(to, context);
  });
  declareClean(store).action(async (options) => {
    const { cleanStore } = await import('./clean-store.js');
    context.exitCode = await cleanStore(options, context);
  });
};
