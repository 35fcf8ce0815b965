import { type AddCommand, lazily } from '../command.js';
import { declareCleanup, declarePlan, declareReport, declareRun, declareValidate } from './options.js';

/** `sandflow cleanup`: stops and deletes unneeded sandboxes by a policy. */
export const addCleanup: AddCommand = (parent, context) => {
  const cleanup = declareCleanup(parent);
  declarePlan(cleanup).action(async (file, options) => {
    const { runCleanup } = await import('./run-cleanup.js');
    context.exitCode = await runCleanup(file, 'plan', options, context);
  });
  declareRun(cleanup).action(async (file, options) => {
    const { runCleanup } = await import('./run-cleanup.js');
    context.exitCode = await runCleanup(file, 'apply', options, context);
  });
  declareReport(cleanup).action(lazily(context, async () => (await import('./run-cleanup.js')).showReport));
  declareValidate(cleanup).action(lazily(context, async () => (await import('./policy-file.js')).validatePolicy));
};
