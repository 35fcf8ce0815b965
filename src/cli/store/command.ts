import type { AddCommand } from '../command.js';
import { declareCopy, declareStore } from './options.js';

/** `sandflow store`: moves the stores of workers. */
export const addStore: AddCommand = (parent, context) => {
  const store = declareStore(parent);
  declareCopy(store).action(async ({ to }) => {
    const { copyStores } = await import('./copy-stores.js');
    context.exitCode = await copyStores(to, context);
  });
};
