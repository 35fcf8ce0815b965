import { type AddCommand, collect } from '../command.js';

interface Options {
  readonly get: readonly string[];
  readonly watchDeadline?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export const addJobsWatch: AddCommand = (parent, context) => {
  parent
    .command('watch')
    .description('Watch a job until it ends and print its result, as `run` does')
    .argument('<job>', 'id of the job')
    .option('--get <remote[:local]>', 'where to save a file that the job collects (repeatable)', collect, [])
    .option('--watch-deadline <duration>', 'stop watching after this time; the job keeps running (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'print warnings only, no progress')
    .action(async (jobId: string, options: Options) => {
      context.jobId = jobId;
      const { parseDurationMs } = await import('../duration.js');
      const watchDeadlineMs =
        options.watchDeadline === undefined ? undefined : parseDurationMs(options.watchDeadline, '--watch-deadline');
      const { parseGetPairs } = await import('../run/file-pairs.js');
      parseGetPairs(options.get);
      const { withPlatform } = await import('../connect/with-platform.js');
      const { seeThrough } = await import('../run/run-job.js');
      context.exitCode = await withPlatform(context, { jobId, quiet: options.quiet }, (platform, reporter) =>
        seeThrough(platform, { deployment: platform.config.deployment, jobId }, options, {
          context,
          reporter,
          watchDeadlineMs,
        }),
      );
    });
};
