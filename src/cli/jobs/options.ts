import type { OptionValues } from '@commander-js/extra-typings';
import { type AnyCommand, collect, jsonCommand, type OptionsOf, type Parent } from '../command.js';
import { declareListOf, failedText, withFilters } from '../list-options.js';
import { withSettings } from '../settings/options.js';

export const declareJobs = (parent: Parent) =>
  parent.command('jobs').description('List, show, watch, rerun, prompt, cancel and resolve jobs');

const blockedText = 'only jobs that are blocked (needs search attributes)';

export const declareList = (parent: Parent) =>
  declareListOf(parent, 'jobs')
    .option('--batch <id>', 'only items of this batch (needs search attributes)')
    .option('--sandbox <id>', 'only jobs and items with this sandbox (needs search attributes)')
    .option('--blocked', blockedText);

export const declareAttributes = (parent: Parent) =>
  jsonCommand(parent, 'attributes', "Add the search attributes of jobs to Temporal's namespace, for filters of lists");

/** The options of a command that acts on one job, or on those that filters choose. */
const withSelection = <A extends unknown[], O extends OptionValues>(command: AnyCommand<A, O>) =>
  withFilters(command, 'jobs')
    .option('--dry-run', 'show the jobs that would be chosen, without changes')
    .option('--yes', 'skip the confirmation for chosen jobs')
    .option('--json', 'print one JSON object on stdout');

const rerunHelp = `
Examples:
  sandflow jobs rerun nightly-42                  the same prompts, files and options, as a new job
  sandflow jobs rerun nightly-42 --id nightly-43
  sandflow jobs rerun --failed --since 1d --label team=search --dry-run

Without an id, each job that has ended and that the options choose is started again, under an id that follows from it:
a repeated command starts none twice. It ends once the jobs are started.

Prompts that \`sandflow jobs prompt\` added to the earlier job are not repeated.
`;

export const declareRerun = (parent: Parent) =>
  withSelection(
    parent
      .command('rerun')
      .description('Start a new job with the input of an earlier one, and watch it; or many, with --failed or --label')
      .argument('[job]', 'id of the earlier job')
      .option('--failed', failedText('jobs')),
  )
    .option('--id <job>', 'id of the new job (default: a new id)')
    .option('--no-check', 'start without asking the service whether the sandbox or snapshot of the job exists')
    .option('--get <remote[:local]>', 'where to save a file that the job collects (repeatable)', collect, [])
    .option('--detach', 'start the job, print its id and exit')
    .option('--watch-deadline <duration>', 'stop watching after this time; the job keeps running (exit code 4)')
    .option('--quiet', 'print warnings only, no progress')
    .addHelpText('after', rerunHelp);

const continueHelp = `
Examples:
  sandflow continue nightly-42 "Now shorten it."
  sandflow continue nightly-42 task.md --get out/report.md

The new job takes from the earlier one its sandbox, which it resumes if it is archived, its conversation, its provider,
model and effort, its limits, notifications and labels, and what happens to the sandbox at the end. It does not take its
files. A job that runs takes further prompts with \`sandflow jobs prompt\`.
`;

export const declareContinue = (parent: Parent) =>
  withSettings(
    parent
      .command('continue')
      .description('Send a follow-up to a job that has ended, in its sandbox and conversation, as a new job')
      .argument('<job>', 'id of the earlier job')
      .argument('[prompt]', 'text, a file, or - for stdin')
      .option('--id <job>', 'id of the new job; if a job has this id, attach to it (default: a new id)'),
    'continue',
  )
    .option('--no-check', 'start without asking the service whether the sandbox still exists')
    .option('--detach', 'start the job, print its id and exit')
    .option('--watch-deadline <duration>', 'stop watching after this time; the job keeps running (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'print warnings only, no progress')
    .addHelpText('after', continueHelp);

export const declareShow = (parent: Parent) =>
  jsonCommand(parent, 'show', 'Show the progress of a job, or its result').argument('<job>', 'id of the job');

const logsHelp = `
Examples:
  sandflow jobs logs nightly-42             what the job did and what the agent said, in order
  sandflow jobs logs nightly-42 -f          live, until the job ends; Ctrl-C leaves the job running
  sandflow jobs logs nightly-42 --json | jq -r 'select(.kind == "message").text'

The service is read only while somebody watches. The transcript of a job that has ended is read from the result
store, also when its sandbox is deleted.
`;

export const declareLogs = (parent: Parent) =>
  parent
    .command('logs')
    .description('Print the transcript of a job: phases, prompts, and what the agent says and runs')
    .argument('<job>', 'id of the job')
    .option('-f, --follow', 'continue live until the job ends')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', logsHelp);

export const declareTrace = (parent: Parent) =>
  parent
    .command('trace')
    .description('Draw when a job did what: its waits, activities, prompts and stop')
    .argument('<job>', 'id of the job')
    .option('--json', 'print one JSON object on stdout, as a collector of OpenTelemetry takes it');

export const declareWatch = (parent: Parent) =>
  parent
    .command('watch')
    .description('Watch a job until it ends and print its result, as `run` does')
    .argument('<job>', 'id of the job')
    .option('--get <remote[:local]>', 'where to save a file that the job collects (repeatable)', collect, [])
    .option('--watch-deadline <duration>', 'stop watching after this time; the job keeps running (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'print warnings only, no progress');

const updateIdText = 'repeats a request of this id that was not answered; it is carried out once';

export const declarePrompt = (parent: Parent) =>
  withSettings(
    parent
      .command('prompt')
      .description('Send another prompt to a running job')
      .argument('<job>', 'id of the job')
      .argument('[prompt]', 'text, a file, or - for stdin'),
    'prompt',
  )
    .option('--update-id <id>', updateIdText)
    .option('--json', 'print one JSON object on stdout');

const cancelHelp = `
Cancelling interrupts the agent, collects the files that exist (marked partial) within a share of the clean-up time, and
then stops, deletes or keeps the sandbox, as set by --end. Cancel again to skip collecting files.

Without an id, each job that runs and that the options choose is cancelled. A repeated command leaves those that are
being cancelled as they are.
`;

export const declareCancel = (parent: Parent) =>
  withSelection(
    parent
      .command('cancel')
      .description('Cancel a job, or many: interrupt its agent, then stop, delete or keep its sandbox')
      .argument('[job]', 'id of the job')
      .option('--open', 'every job that runs')
      .option('--blocked', blockedText),
  )
    .option('--wait', 'wait until the job has ended')
    .addHelpText('after', cancelHelp);

export const declareResolve = (parent: Parent) =>
  withSelection(
    parent
      .command('resolve')
      .description('Resolve a call whose outcome is unknown, of one job or of many')
      .argument('[job]', 'id of the job')
      .option('--open', 'every job that waits for a decision')
      .option('--blocked', blockedText),
  )
    .option('--sent', 'the call took effect: adopt its result')
    .option('--resend', 'the call had no effect: send it again')
    .option('--abandon', 'end the job as outcome_unknown')
    .option('--sandbox <id>', 'with --sent for a create: the sandbox that it created')
    .option('--conversation <id>', 'with --sent for a prompt: its conversation, if known')
    .option('--prompt-id <id>', 'with --sent for a prompt: its id, if known')
    .option('--update-id <id>', updateIdText);

export type ListOptions = OptionsOf<typeof declareList>;
export type RerunJobOptions = OptionsOf<typeof declareRerun>;
export type ContinueJobOptions = OptionsOf<typeof declareContinue>;
export type LogsOptions = OptionsOf<typeof declareLogs>;
export type WatchJobOptions = OptionsOf<typeof declareWatch>;
export type PromptJobOptions = OptionsOf<typeof declarePrompt>;
export type CancelJobOptions = OptionsOf<typeof declareCancel>;
export type ResolveJobOptions = OptionsOf<typeof declareResolve>;
