import type { AddCommand } from '../command.js';
import { declareCopy, declareExec, declareSandboxes, declareShow, declareSsh } from './options.js';

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

export const addExec: AddCommand = (parent, context) => {
  declareExec(parent).action(async (sandboxId, words, options) => {
    const { runInSandbox } = await import('./run-in-sandbox.js');
    context.exitCode = await runInSandbox(sandboxId, words, options, context);
  });
};

export const addCopy: AddCommand = (parent, context) => {
  declareCopy(parent).action(async (from, to) => (await import('./copy-files.js')).copyFiles(from, to, context));
};

export const addSsh: AddCommand = (parent, context) => {
  declareSsh(parent).action(async (sandboxId, words, options) => {
    const { openShell } = await import('./open-shell.js');
    context.exitCode = await openShell(sandboxId, words, options, context);
  });
};
