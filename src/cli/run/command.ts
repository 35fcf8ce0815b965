import type { AddCommand } from '../command.js';
import { exitCodesHelp } from '../exit-codes.js';
import { declareRun } from './options.js';

/** `sandflow run`: one job, from prompt to result. */
export const addRun: AddCommand = (parent, context) => {
  declareRun(parent)
    .addHelpText('after', exitCodesHelp)
    .action(async (prompts, options) => {
      context.jobId = options.id ?? null;
      context.undone = 'started no job';
      const { readRun } = await import('./read-run.js');
      const read = await readRun(prompts, options, context.io);
      const { runJob } = await import('./run-job.js');
      context.exitCode = await runJob(read, options, context);
    });
};
