import type { AddCommand } from '../command.js';
import { declareSandboxes, declareShow } from './options.js';

/** `sandflow sandboxes`: every sandbox of the account, whether or not a job created it. */
export const addSandboxes: AddCommand = (parent, context) => {
  const sandboxes = declareSandboxes(parent).action(async (options) =>
    (await import('./list-sandboxes.js')).listSandboxes(options, context),
  );
  declareShow(sandboxes).action(async (sandboxId, _, command) => {
    const { showSandbox } = await import('./show-sandbox.js');
    // `sandflow sandboxes --json show ID` is valid too.
    await showSandbox(sandboxId, command.optsWithGlobals(), context);
  });
};
