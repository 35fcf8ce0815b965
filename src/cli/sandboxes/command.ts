import { type AddCommand, lazily } from '../command.js';
import { declareCopy, declareExec, declareSandboxes, declareShow, declareSsh } from './options.js';

/** `sandflow sandboxes`: every sandbox of the account, whether or not a job created it. */
export const addSandboxes: AddCommand = (parent, context) => {
  const sandboxes = declareSandboxes(parent).action(
    lazily(context, async () => (await import('./list-sandboxes.js')).listSandboxes),
  );
  declareShow(sandboxes).action(async (sandboxId, _, command) => {
    const { showSandbox } = await import('./show-sandbox.js');
    // `sandflow sandboxes --json show ID` is valid too.
    await showSandbox(sandboxId, command.optsWithGlobals(), context);
  });
};

export const addExec: AddCommand = (parent, context) => {
  declareExec(parent).action(lazily(context, async () => (await import('./run-in-sandbox.js')).runInSandbox));
};

export const addCopy: AddCommand = (parent, context) => {
  declareCopy(parent).action(async (from, to) => (await import('./copy-files.js')).copyFiles(from, to, context));
};

export const addSsh: AddCommand = (parent, context) => {
  declareSsh(parent).action(lazily(context, async () => (await import('./open-shell.js')).openShell));
};
