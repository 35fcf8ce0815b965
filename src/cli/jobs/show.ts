import type { AddCommand } from '../command.js';

interface Options {
  readonly json?: boolean;
}

export const addJobsShow: AddCommand = (parent, context) => {
  parent
    .command('show')
    .description('Show the progress of a job, or its result')
    .argument('<job>', 'id of the job')
    .option('--json', 'print one JSON object on stdout')
    .action(async (jobId: string, options: Options) => {
      context.jobId = jobId;
      const { showJob } = await import('../run/show-job.js');
      context.exitCode = await showJob(jobId, options, context);
    });
};
