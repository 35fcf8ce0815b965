import type { AddCommand } from '../command.js';
import type { ReportOptions, RunCleanupOptions } from './run-cleanup.js';
import { addCleanupSchedule } from './schedule-command.js';

const help = `
Examples:
  sandflow cleanup plan policy.yaml               what it would do, and why it leaves the rest alone
  sandflow cleanup run policy.yaml                does it
  sandflow cleanup schedule apply policy.yaml     does it every night
  sandflow cleanup report                         how the last one went

Exit codes:
  0    it was planned, or everything that was due was done or left alone for a reason
  1    something failed or was not confirmed, or nothing was done: outside of its window, or beside another run
  130  Ctrl-C ended the wait; the cleanup goes on
`;

/** `sandflow cleanup`: sandboxes that nobody needs any more, by a policy. */
export const addCleanup: AddCommand = (parent, context) => {
  const cleanup = parent
    .command('cleanup')
    .description('Stop and delete what a policy says, and nothing that someone still needs')
    .addHelpText('after', help);
  cleanup
    .command('plan')
    .description('Show what a policy would do now; changes nothing')
    .argument('<policy>', 'a policy file')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file: string, options: ReportOptions) => {
      const { runCleanup } = await import('./run-cleanup.js');
      context.exitCode = await runCleanup(file, { ...options, dryRun: true }, context);
    });
  cleanup
    .command('run')
    .description('Plan, then do what was planned; each action is checked once more right before it')
    .argument('<policy>', 'a policy file')
    .option('--dry-run', 'only plan')
    .option('--wait', 'wait until it has ended, which is the default')
    .option('--detach', 'start it, print its id and leave')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file: string, options: RunCleanupOptions) => {
      const { runCleanup } = await import('./run-cleanup.js');
      context.exitCode = await runCleanup(file, options, context);
    });
  cleanup
    .command('report')
    .description('Show how the last cleanup went, or one of your choice')
    .argument('[id]', 'id of a run; default: the last one that has ended')
    .option('--json', 'print one JSON object on stdout')
    .action(async (id: string | undefined, options: ReportOptions) => {
      const { showReport } = await import('./run-cleanup.js');
      context.exitCode = await showReport(id, options, context);
    });
  cleanup
    .command('validate')
    .description('Check a policy file; asks nobody and starts nothing')
    .argument('<policy>', 'a policy file')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file: string, options: ReportOptions) => {
      const { validatePolicy } = await import('./validate-policy.js');
      await validatePolicy(file, options, context);
    });
  addCleanupSchedule(cleanup, context);
};
