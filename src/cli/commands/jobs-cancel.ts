import type { AddCommand } from '../command.js';

interface Options {
  readonly wait?: boolean;
  readonly json?: boolean;
}

export const addJobsCancel: AddCommand = (parent, context) => {
  parent
    .command('cancel')
    .description('End a job: it interrupts the agent, and stops or deletes the sandbox as it was told')
    .argument('<job>', 'id of the job')
    .option('--wait', 'wait until it has ended')
    .option('--json', 'print one JSON object on stdout')
    .action(async (jobId: string, options: Options) => {
      const { io } = context;
      const { withPlatform } = await import('../connect/with-platform.js');
      const { cancelJob } = await import('../../temporal/jobs.js');
      const { watchJob } = await import('../run/watch-job.js');
      const end = await withPlatform(context, { jobId, needsWorker: options.wait }, async (platform, reporter) => {
        const job = { deployment: platform.config.deployment, jobId };
        await cancelJob(platform.temporal, job);
        if (!options.wait) return undefined;
        return watchJob(platform, job, { reporter, interrupted: io.interrupted, look: true });
      });
      const outcome = end?.kind === 'ended' ? end.result.outcome : null;
      const { printJson } = await import('../output/json.js');
      if (options.json) printJson(io.stdout, { jobId, outcome, error: null });
      if (end?.kind === 'detached') {
        const { exitCodes } = await import('../exit-codes.js');
        context.exitCode = exitCodes.detached;
      }
      io.stderr.write(outcome ? `The job ${jobId} has ended: ${outcome}.\n` : `The job ${jobId} was asked to end.\n`);
    });
};
