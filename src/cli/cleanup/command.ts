import type { AddCommand } from '../command.js';
import type { ReportOptions, RunCleanupOptions } from './run-cleanup.js';
import { addCleanupSchedule } from './schedule-command.js';

const help = `
Examples:
  sandflow cleanup plan policy.yaml               show what it would do, and why it skips the rest
  sandflow cleanup run policy.yaml                run it
  sandflow cleanup schedule apply policy.yaml     run it every night
  sandflow cleanup report                         show the result of the last run

Exit codes:
  0    the plan is complete, or every due action was done or skipped for a reason
  1    an action failed or was not confirmed, or nothing was done: outside the window, or during another run
  130  Ctrl-C ended the wait; the cleanup continues
`;

/** `sandflow cleanup`: stops and deletes unneeded sandboxes by a policy. */
export const addCleanup: AddCommand = (parent, context) => {
  const cleanup = parent
    .command('cleanup')
    .description('Stop and delete sandboxes by a policy; skip those still in use')
    .addHelpText('after', help);
  cleanup
    .command('plan')
    .description('Show what a policy would do now, without changes')
    .argument('<policy>', 'a policy file')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file: string, options: ReportOptions) => {
      const { runCleanup } = await import('./run-cleanup.js');
      context.exitCode = await runCleanup(file, { ...options, dryRun: true }, context);
    });
  cleanup
    .command('run')
    .description('Plan, then run the plan; each action is checked again right before it')
    .argument('<policy>', 'a policy file')
    .option('--dry-run', 'only plan')
    .option('--wait', 'wait until it has ended (the default)')
    .option('--detach', 'start it, print its id and exit')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file: string, options: RunCleanupOptions) => {
      const { runCleanup } = await import('./run-cleanup.js');
      context.exitCode = await runCleanup(file, options, context);
    });
  cleanup
    .command('report')
    .description('Show the report of the last cleanup, or of a given one')
    .argument('[id]', 'id of a run (default: the last one that has ended)')
    .option('--json', 'print one JSON object on stdout')
    .action(async (id: string | undefined, options: ReportOptions) => {
      const { showReport } = await import('./run-cleanup.js');
      context.exitCode = await showReport(id, options, context);
    });
  cleanup
    .command('validate')
    .description('Check a policy file offline')
    .argument('<policy>', 'a policy file')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file: string, options: ReportOptions) => {
      const { validatePolicy } = await import('./validate-policy.js');
      await validatePolicy(file, options, context);
    });
  addCleanupSchedule(cleanup, context);
};
