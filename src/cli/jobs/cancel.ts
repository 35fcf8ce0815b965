import type { AddCommand } from '../command.js';

interface Options {
  readonly wait?: boolean;
  readonly json?: boolean;
}

const help = `
Cancelling interrupts the agent, collects the files that exist (marked partial) within a share of the clean-up time, and
then stops, deletes or keeps the sandbox, as --then says. Cancel again to skip collecting files.
`;

export const addJobsCancel: AddCommand = (parent, context) => {
  parent
    .command('cancel')
    .description('Cancel a job: interrupt its agent, then stop, delete or keep its sandbox')
    .argument('<job>', 'id of the job')
    .option('--wait', 'wait until the job has ended')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', help)
    .action(async (jobId: string, options: Options) => {
      const { io } = context;
      const { withPlatform } = await import('../connect/with-platform.js');
      const { cancelJob } = await import('../../temporal/jobs/client.js');
      const { watchJob } = await import('../run/watch-job.js');
      const { leftText } = await import('../output/left-text.js');
      const { exitCodes } = await import('../exit-codes.js');
      const { again, end } = await withPlatform(
        context,
        { jobId, needsWorker: options.wait },
        async (platform, reporter) => {
          const job = { deployment: platform.config.deployment, jobId };
          const { again } = await cancelJob(platform.temporal, job);
          if (!options.wait) return { again, end: undefined };
          if (again) reporter.notice(secondText(jobId));
          return { again, end: await watchJob(platform, job, { reporter, interrupted: io.interrupted, look: true }) };
        },
      );
      const result = end?.kind === 'ended' ? end.result : null;
      const { printJson } = await import('../output/json.js');
      const left = result?.left ?? [];
      if (options.json) printJson(io.stdout, { jobId, outcome: result?.outcome ?? null, again, left, error: null });
      if (end?.kind === 'detached') context.exitCode = exitCodes.detached;
      if (left.length > 0) context.exitCode = exitCodes.otherOutcome;
      const asked = again
        ? secondText(jobId)
        : `Cancelling job ${jobId}. It collects files first; cancel again to skip that.`;
      io.stderr.write(`${result ? `Job ${jobId} ended: ${result.outcome}.` : asked}\n`);
      for (const one of left) io.stderr.write(`  ${leftText(one)}\n`);
    });
};

function secondText(jobId: string): string {
  return `Job ${jobId} was already being cancelled; it now skips collecting files.`;
}
