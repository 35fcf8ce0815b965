import type { AddCommand } from '../command.js';
import { declareClock, declareLocal, declareReset, declareSeed } from './options.js';

/** `sandflow local`: runs the local service, and administers a running one. */
export const addLocal: AddCommand = (parent, context) => {
  const local = declareLocal(parent).action(async (options) => {
    context.exitCode = await (await import('./serve-local.js')).serveLocal(options, context.io);
  });
  declareClock(local).action(async (options) => (await import('./administer.js')).setClock(options, context));
  declareSeed(local).action(async (file, options) =>
    (await import('./administer.js')).seedState(file, options, context),
  );
  declareReset(local).action(async (options) => (await import('./administer.js')).resetState(options, context));
};
