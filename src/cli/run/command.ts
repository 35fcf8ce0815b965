import type { AddCommand } from '../command.js';
import { declareRun } from './options.js';

/** Those of all commands. */
const exitCodesHelp = `
Exit codes:
  0    the job or batch completed and left nothing behind, or the command succeeded
  1    the job or batch ended with another outcome, left something behind, or a file is missing
  2    invalid usage or configuration, an id that does not exist, or the service rejected the key; nothing was started
  3    Temporal or the service is unreachable, throttles or returns errors, or a disk is full; try again later
  4    --watch-deadline passed; the job or batch is still running
  5    the job is unverified: its checks did not pass
  6    like 1, but failed only by a machine, the service or sandflow: the same work may succeed later
  70   an unexpected error: a bug in sandflow
  130  ended by Ctrl-C; the job or batch is still running, if it was started
`;

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
