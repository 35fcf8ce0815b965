import type { AddCommand, OptionsOf, Parent } from '../command.js';

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

const run = (parent: Parent) =>
  parent
    .command('run')
    .description('Plan, then run the plan; each action is checked again right before it')
    .argument('<policy>', 'a policy file')
    .option('--dry-run', 'only plan')
    .option('--wait', 'wait until it has ended (the default)')
    .option('--detach', 'start it, print its id and exit')
    .option('--json', 'print one JSON object on stdout');

export type RunCleanupOptions = OptionsOf<typeof run>;

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
    .action(async (file, options) => {
      const { runCleanup } = await import('./run-cleanup.js');
      context.exitCode = await runCleanup(file, { ...options, dryRun: true }, context);
    });
  run(cleanup).action(async (file, options) => {
    const { runCleanup } = await import('./run-cleanup.js');
    context.exitCode = await runCleanup(file, options, context);
  });
  cleanup
    .command('report')
    .description('Show the report of the last cleanup, or of a given one')
    .argument('[id]', 'id of a run (default: the last one that has ended)')
    .option('--json', 'print one JSON object on stdout')
    .action(async (id, options) => {
      const { showReport } = await import('./run-cleanup.js');
      context.exitCode = await showReport(id, options, context);
    });
  cleanup
    .command('validate')
    .description('Check a policy file offline')
    .argument('<policy>', 'a policy file')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file, options) => (await import('./policy-file.js')).validatePolicy(file, options, context));
  addSchedule(cleanup, context);
};

const apply = (parent: Parent) =>
  parent
    .command('apply')
    .description('Create or replace the schedule of a policy; a paused one stays paused')
    .argument('<policy>', 'a policy file; its name names the schedule')
    .option('--at <time>', "time of day in the policy's zone, like 02:30 (default: when its first window opens)")
    .option('--cron <expression>', "in place of --at: a cron expression, in the policy's zone")
    .option('--jitter <duration>', 'delay the start by a random time up to this', '10m')
    .option('--catch-up <duration>', 'make up for a missed run if Temporal is back within this time', '24h')
    .option('--json', 'print one JSON object on stdout');

export type ApplyScheduleOptions = OptionsOf<typeof apply>;

const changes = {
  pause: 'Pause a schedule',
  resume: 'Resume a paused schedule',
  trigger: 'Start a run now, unless one is running',
  delete: 'Delete a schedule; runs that have started continue',
} as const;

const addSchedule: AddCommand = (parent, context) => {
  const schedule = parent.command('schedule').description('Run cleanups on a Temporal Schedule');
  apply(schedule).action(async (file, options) =>
    (await import('./schedules.js')).applySchedule(file, options, context),
  );
  schedule
    .command('list')
    .description('List the schedules of this deployment')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options) => (await import('./schedules.js')).listSchedules(options, context));
  for (const change of ['pause', 'resume', 'trigger', 'delete'] as const) {
    schedule
      .command(change)
      .description(changes[change])
      .argument('<policy-name>', 'name in the policy')
      .option('--json', 'print one JSON object on stdout')
      .action(async (policyName, options) =>
        (await import('./schedules.js')).changeSchedule(change, { ...options, policyName }, context),
      );
  }
};
