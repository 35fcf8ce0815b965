import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';
import { declareDown, declareStatus, declareSupervisor, declareUp } from './options.js';

/** `sandflow up`, `status` and `down`: the embedded stack. */
export const addStack: AddCommand = (parent, context) => {
  declareUp(parent).action(async (options) => {
    if (options.foreground) return (await import('./serve-stack.js')).serveInForeground(options, context.io);
    if (options.readyJson) throw new UsageError('--ready-json needs --foreground. In the background, use --json.');
    await (await import('./start-stack.js')).startInBackground(options, context.io);
  });
  declareStatus(parent).action(async (options) => (await import('./show-stack.js')).showStack(options, context.io));
  declareDown(parent).action(async (options) => (await import('./end-stack.js')).endStack(options, context.io));
};

/** A hidden command. Commands such as `run` start it in the background, once per SANDFLOW_HOME. */
export const addSupervisor: AddCommand = (parent, context) => {
  declareSupervisor(parent).action(async (options) =>
    (await import('./serve-stack.js')).serveSupervisor(options, context.io),
  );
};
