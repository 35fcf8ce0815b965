import { collect, type OptionsOf, type Parent } from '../command.js';

export const declareJobs = (parent: Parent) =>
  parent.command('jobs').description('List, show, watch, prompt, cancel and resolve jobs');

export const declareList = (parent: Parent) =>
  parent
    .command('list')
    .description('List the jobs of this deployment, newest first')
    .option('--open', 'only running jobs')
    .option('--limit <count>', 'maximum number of jobs to list', '50')
    .option('--json', 'print one JSON object on stdout');

export const declareShow = (parent: Parent) =>
  parent
    .command('show')
    .description('Show the progress of a job, or its result')
    .argument('<job>', 'id of the job')
    .option('--json', 'print one JSON object on stdout');

export const declareWatch = (parent: Parent) =>
  parent
    .command('watch')
    .description('Watch a job until it ends and print its result, as `run` does')
    .argument('<job>', 'id of the job')
    .option('--get <remote[:local]>', 'where to save a file that the job collects (repeatable)', collect, [])
    .option('--watch-deadline <duration>', 'stop watching after this time; the job keeps running (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'print warnings only, no progress');

export const declarePrompt = (parent: Parent) =>
  parent
    .command('prompt')
    .description('Send another prompt to a running job')
    .argument('<job>', 'id of the job')
    .argument('<prompt>', 'text, a file, or - for stdin')
    .option('--provider <name>', 'agent harness')
    .option('--model <name>', 'model of the provider')
    .addOption(
      parent
        .createOption('--effort <level>', 'reasoning effort')
        .choices(['none', 'low', 'medium', 'high', 'xhigh', 'max']),
    )
    .option('--json', 'print one JSON object on stdout');

const cancelHelp = `
Cancelling interrupts the agent, collects the files that exist (marked partial) within a share of the clean-up time, and
then stops, deletes or keeps the sandbox, as set by --then. Cancel again to skip collecting files.
`;

export const declareCancel = (parent: Parent) =>
  parent
    .command('cancel')
    .description('Cancel a job: interrupt its agent, then stop, delete or keep its sandbox')
    .argument('<job>', 'id of the job')
    .option('--wait', 'wait until the job has ended')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', cancelHelp);

export const declareResolve = (parent: Parent) =>
  parent
    .command('resolve')
    .description('Resolve a call whose outcome is unknown')
    .argument('<job>', 'id of the job')
    .option('--sent', 'the call took effect: adopt its result')
    .option('--resend', 'the call had no effect: send it again')
    .option('--abandon', 'end the job as outcome_unknown')
    .option('--sandbox <id>', 'with --sent for a create: the sandbox that it created')
    .option('--conversation <id>', 'with --sent for a prompt: its conversation, if known')
    .option('--prompt-id <id>', 'with --sent for a prompt: its id, if known')
    .option('--json', 'print one JSON object on stdout');

export type WatchJobOptions = OptionsOf<typeof declareWatch>;
export type PromptJobOptions = OptionsOf<typeof declarePrompt>;
export type CancelJobOptions = OptionsOf<typeof declareCancel>;
export type ResolveJobOptions = OptionsOf<typeof declareResolve>;
