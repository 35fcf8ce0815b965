import { collect, type OptionsOf, type Parent } from '../command.js';
import { requireSandboxId } from '../usage-error.js';

export const declareStops = (parent: Parent) => parent.command('stops').description('List open stops, or explain one');

const stopHelp = `
Examples:
  sandflow stop bx_2345abcd --wait            wait until it is archived
  sandflow stop --all --name 'try-*' --yes    every sandbox with a matching name
  sandflow stop bx_2345abcd --alert-after 10m --notify https://a.example/stops
  sandflow stop bx_2345abcd --escalate '30m: resume-and-stop, 2h: notify'

Exit codes:
  0    every stop was accepted; with --wait, every sandbox ended archived or
       already_archived
  1    at least one stop was not accepted or, with --wait, ended differently
  2    invalid usage, or none of the sandboxes exists; nothing was stopped
  130  Ctrl-C ended the command; the stops that were requested continue
`;

export const declareStop = (parent: Parent) =>
  parent
    .command('stop')
    .description('Stop sandboxes durably; --wait waits until they are archived')
    .argument('[sandbox...]', 'ids of sandboxes')
    .option('--all', 'every sandbox of the account that can be stopped; asks for confirmation')
    .option('--name <pattern>', 'with --all: only matching names; * matches any characters, ? matches one')
    .option('--yes', 'skip the confirmation of --all, and of sandboxes in which jobs work')
    .option('--no-check', 'request the stop even if the service does not show the sandbox yet')
    .option('--wait', 'wait until each stop has ended, and print whether the work was saved')
    .option(
      '--deadline <duration>',
      'stop waiting after this time; the service continues to archive the sandbox (default: 30m or, with --escalate, 30m after its last step)',
    )
    .option('--alert-after <duration>', 'notify if a stop has not ended after this time (default: never)')
    .option(
      '--escalate <steps>',
      'what to do if a stop goes on failing: times after its acceptance, each with resume-and-stop, notify or delete',
    )
    .option('--escalate-may-delete', 'with --escalate: permit steps that delete the sandbox and all its data')
    .option(
      '--notify <target>',
      'notify a URL, slack:URL, teams:URL or discord:URL of the alert, of each step of --escalate, of refusals by the service, and of the end',
    )
    .option('--request <id>', 'request id; repeating it resumes the wait instead of requesting again')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'print warnings only, no progress')
    .addHelpText('after', stopHelp);

export const declareList = (parent: Parent) =>
  parent
    .command('list')
    .description('List the open stops of the account, oldest first, with the number of waiting requests')
    .option('--failing', 'only stops whose last attempt failed')
    .option('--older-than <duration>', 'only stops that were requested longer ago than this')
    .option('--json', 'print one JSON object on stdout');

export const declareExplain = (parent: Parent) =>
  parent
    .command('explain')
    .description("Explain the state of a sandbox's last stop, and what happens next")
    .argument('<sandbox>', 'id of the sandbox', requireSandboxId)
    .option('--json', 'print one JSON object on stdout');

const sweepHelp = `
Examples:
  sandflow stops sweep --escalate '30m: resume-and-stop, 2h: notify' --dry-run
  sandflow stops sweep --escalate '30m: resume-and-stop, 2h: notify' --apply

Exit codes:
  0    the plan is complete, or every failing stop was escalated or left for a
       reason
  1    the stop of a sandbox could not be escalated, or a limit lets nothing act
  130  Ctrl-C ended the command; the sweep continues, if it was started
`;

export const declareSweep = (parent: Parent) =>
  parent
    .command('sweep')
    .description('Escalate every failing stop of the account, also those that nobody follows')
    .option('--escalate <steps>', 'what to do about each, such as "30m: resume-and-stop, 2h: notify"; see `stop`')
    .option('--escalate-may-delete', 'permit steps that delete the sandbox and all its data')
    .option('--dry-run', 'show what it would do and leave, without changes')
    .option('--apply', 'do it; each sandbox is checked again right before')
    .option('--failing-for <duration>', 'only stops that were requested longer ago than this', '10m')
    .option('--protect <pattern>', 'names that are never touched (repeatable)', collect, [])
    .option('--protect-may-match-nothing', 'delete although a pattern of --protect matches nothing')
    .option('--limit <count>', 'maximum number of stops that are escalated in one night', '20')
    .option('--notify <target>', 'notify a URL, slack:URL, teams:URL or discord:URL of the result, and of each step')
    .option('--detach', 'start it, print its id and exit')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', sweepHelp);

export type SweepCommandOptions = OptionsOf<typeof declareSweep>;
export type StopCommandOptions = OptionsOf<typeof declareStop>;
export type ListStopsOptions = OptionsOf<typeof declareList>;
