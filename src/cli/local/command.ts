import { type AddCommand, lazily } from '../command.js';
import { declareClock, declareLocal, declareReset, declareSeed } from './options.js';

/** `sandflow local`: runs the local service, and administers a running one. */
export const addLocal: AddCommand = (parent, context) => {
  const local = declareLocal(parent).action(lazily(context, async () => (await import('./serve-local.js')).serveLocal));
  declareClock(local).action(lazily(context, async () => (await import('./administer.js')).setClock));
  declareSeed(local).action(lazily(context, async () => (await import('./administer.js')).seedState));
  declareReset(local).action(lazily(context, async () => (await import('./administer.js')).resetState));
};
