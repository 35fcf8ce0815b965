import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';

interface Options {
  readonly open?: boolean;
  readonly limit: string;
  readonly json?: boolean;
}

export const addJobsList: AddCommand = (parent, context) => {
  parent
    .command('list')
    .description('List the jobs of this deployment, newest first')
    .option('--open', 'only running jobs')
    .option('--limit <count>', 'maximum number of jobs to list', '50')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: Options) => {
      const { io } = context;
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
        throw new UsageError(`--limit must be a whole number from 1 to 10000, not "${options.limit}".`);
      }
      const { withPlatform } = await import('../connect/with-platform.js');
      const { listJobs } = await import('../../temporal/jobs/list.js');
      const { printJson } = await import('../output/json.js');
      const { formatTable } = await import('../output/table.js');
      const { cellOf, sayUnreadable } = await import('../output/unreadable-rows.js');
      const jobs = await withPlatform(context, {}, ({ temporal, config }) =>
        listJobs(temporal, { deployment: config.deployment, open: options.open, limit }),
      );
      if (options.json) return printJson(io.stdout, { jobs, error: null });
      if (jobs.length === 0) return void io.stderr.write('No jobs found.\n');
      const rows = jobs.map(({ jobId, status, startedAt, prompt, unreadable }) => [
        jobId,
        status,
        startedAt,
        cellOf(prompt, unreadable),
      ]);
      io.stdout.write(formatTable(['JOB', 'STATUS', 'STARTED', 'PROMPT'], rows));
      sayUnreadable(jobs, io);
    });
};
