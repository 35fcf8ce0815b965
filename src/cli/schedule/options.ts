import { defaultCatchUpMs } from '../../protocol/limits.js';
import { scheduleOverlaps } from '../../protocol/schedule-overlaps.js';
import { jsonCommand, type OptionsOf, type Parent } from '../command.js';

const help = `
Examples:
  sandflow schedule add nightly job.yaml --cron "30 2 * * 1-5" --zone Europe/Vienna
  sandflow schedule add issues batch.yaml --cron @daily
  sandflow schedule add cleanup policy.yaml                    when the first window of the policy opens
  sandflow schedule show nightly                               what it runs, its next and its last runs
  sandflow jobs list --schedule nightly                        its runs
`;

export const declareSchedules = (parent: Parent) =>
  parent.command('schedule').description('Run jobs, batches and cleanups by a timetable').addHelpText('after', help);

const addHelp = `
Examples:
  sandflow schedule add nightly job.yaml --cron "30 2 * * 1-5"
  sandflow schedule add often batch.yaml --cron "@every 6h"

The file is that of a job (sandflow run job.yaml), of a batch (sandflow fanout
batch.yaml) or of a cleanup (sandflow cleanup run policy.yaml). It is checked
now, as those commands check it. Its prompts, files and items are stored now,
and do not change with the files.

Cron: minute, hour, day of the month, month, day of the week (0 is Sunday). Both
days must match, if both are given. @hourly, @daily, @weekly, @monthly and
@every 6h are possible, too.

The id of each run is the name with the time in UTC, like nightly-261127-0130,
and its label is schedule=nightly.
`;

const defaultCatchUp = `${defaultCatchUpMs / 3_600_000}h`;

export const declareAdd = (parent: Parent) =>
  parent
    .command('add')
    .description('Add a schedule that runs the file of a job, a batch or a cleanup')
    .argument('<name>', 'its name: lower-case letters and digits, with dashes between them')
    .argument('<file>', 'a YAML file of a job, a batch or a cleanup')
    .option('--cron <expression>', 'when it runs (default for a cleanup: when the first window of its policy opens)')
    .option('--zone <name>', 'time zone of --cron, like Europe/Vienna (default: the zone of this machine)')
    .addOption(
      parent
        .createOption('--overlap <policy>', 'what happens if a run is due while the last one has not ended')
        .choices(scheduleOverlaps)
        .default('skip'),
    )
    .option('--jitter <duration>', 'delay each run by a random time up to this', '0')
    .option('--catch-up <duration>', 'run what was missed if Temporal is back within this time', defaultCatchUp)
    .option('--replace', 'replace the schedule if there is one with this name; a paused one stays paused')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', addHelp);

export const declareList = (parent: Parent) => jsonCommand(parent, 'list', 'List the schedules of this deployment');

const withName = (parent: Parent, name: string, description: string) =>
  jsonCommand(parent, name, description).argument('<name>', 'name of the schedule');

export const declareShow = (parent: Parent) =>
  withName(parent, 'show', 'Show what a schedule runs, its next runs, and how the last ones ended');

export const declareRunNow = (parent: Parent) =>
  withName(parent, 'run-now', 'Start a run now and print its id; --overlap decides if the last one has not ended');

const changes = {
  pause: 'Pause a schedule; a run that has started continues',
  resume: 'Resume a paused schedule',
  remove: 'Remove a schedule; a run that has started continues',
} as const;

export const declareChange = (parent: Parent, change: keyof typeof changes) =>
  withName(parent, change, changes[change]);

export type AddOptions = OptionsOf<typeof declareAdd>;
