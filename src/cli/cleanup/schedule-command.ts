import type { AddCommand } from '../command.js';
import type { ApplyScheduleOptions } from './schedules.js';

const changes = {
  pause: 'Pause a schedule',
  resume: 'Resume a paused schedule',
  trigger: 'Start a run now, unless one is running',
  delete: 'Delete a schedule; runs that have started continue',
} as const;

/** `sandflow cleanup schedule`: every night. */
export const addCleanupSchedule: AddCommand = (parent, context) => {
  const schedule = parent.command('schedule').description('Run cleanups on a Temporal Schedule');
  schedule
    .command('apply')
    .description('Create or replace the schedule of a policy; a paused one stays paused')
    .argument('<policy>', 'a policy file; its name names the schedule')
    .option('--at <time>', "time of day in the policy's zone, like 02:30 (default: when its first window opens)")
    .option('--cron <expression>', "in place of --at: a cron expression, in the policy's zone")
    .option('--jitter <duration>', 'delay the start by a random time up to this', '10m')
    .option('--catch-up <duration>', 'make up for a missed run if Temporal is back within this time', '24h')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file: string, options: ApplyScheduleOptions) => {
      const { applySchedule } = await import('./schedules.js');
      await applySchedule(file, options, context);
    });
  schedule
    .command('list')
    .description('List the schedules of this deployment')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: { readonly json?: boolean }) => {
      const { listSchedules } = await import('./schedules.js');
      await listSchedules(options, context);
    });
  for (const change of ['pause', 'resume', 'trigger', 'delete'] as const) {
    schedule
      .command(change)
      .description(changes[change])
      .argument('<policy-name>', 'name in the policy')
      .option('--json', 'print one JSON object on stdout')
      .action(async (policyName: string, options: { readonly json?: boolean }) => {
        const { changeSchedule } = await import('./schedules.js');
        await changeSchedule(change, { ...options, policyName }, context);
      });
  }
};
