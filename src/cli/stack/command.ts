import type { AddCommand } from '../command.js';
import { declareDown, declareStatus, declareUp } from './options.js';

/** `sandflow up`, `status` and `down`: the embedded stack in the background. */
export const addStack: AddCommand = (parent, context) => {
  declareUp(parent).action(async (options) =>
    (await import('./start-stack.js')).startInBackground(options, context.io),
  );
  declareStatus(parent).action(async (options) => (await import('./show-stack.js')).showStack(options, context.io));
  declareDown(parent).action(async (options) => (await import('./end-stack.js')).endStack(options, context.io));
};
