import type { OptionValues } from '@commander-js/extra-typings';
import { type AnyCommand, collect, type OptionsOf, type Parent, type WithEnd } from '../command.js';
import { declareListOf } from '../list-options.js';

const help = `
Items:
  text   one prompt per line; blank lines and lines that begin with # are skipped. If the first line is ---,
         each prompt may span several lines, up to the next ---
  JSONL  a prompt as a string, or an object: prompt or prompts, id, provider, model, effort, type, end, deadline,
         put {"remote": "local"}, get ["remote"], getDiff, labels
  JSON   one list of such strings and objects
  CSV    with a header row; a column named after a field of JSONL sets that field (put as LOCAL:REMOTE), and
         all other columns become labels
  --prompt is a template: {{column}} is the value of that column, {{prompt}} the line of a text file.

  --get out/report.md saves that file of each item as files/<item>/out/report.md in the folder of the results;
  --get out/report.md:report.md saves it as files/<item>/report.md.

Source of the forks:
  --source or --snapshot; otherwise a fresh sandbox that the batch creates, prepares (--environment, --setup,
  --prepare-put, --command, --prepare-prompt) and stops.

Examples:
  sandflow fanout prompts.txt
  sandflow fanout prompts.txt --source bx_2345abcd
  sandflow fanout issues.csv --prompt "Fix {{issue}} in {{file}}" --get report.md --budget 10h
  sandflow fanout prompts.txt --source bx_2345abcd --get-diff=app       one patch of each fork
  sandflow fanout prompts.jsonl --command "git clone https://example.com/app.git" --model m1,m2 --repeat 3
  sandflow fanout prompts.txt --snapshot base --first 5 --dry-run
  generate | sandflow fanout - --format jsonl --id nightly-42

The batch runs in Temporal: once it has started, Ctrl-C leaves it running. At the end, results.jsonl, report.html and
the items' files are in ./fanout-<id>, and the path of results.jsonl is on stdout.

Exit codes:
  0    the batch completed: every item, or as many as --first requires
  1    the batch ended with another outcome, left something behind, or a file of a completed item is missing
  2    invalid usage or items; nothing was started
  3    Temporal or the service is unreachable; the batch keeps running, if it was started
  4    --watch-deadline passed; the batch keeps running
  130  ended by Ctrl-C; the batch keeps running, if it was started
`;

const machineSizes = ['small', 'default', 'large', 'xlarge'] as const;

/**
 * Options of the batch's policy. They have no defaults here, because a resume changes only the options that it names.
 * `batch-input.ts` has the defaults of a new batch.
 */
const withPolicy = <A extends unknown[], O extends OptionValues>(
  command: AnyCommand<A, O>,
  /** How the help names the value of an option that is not given. */
  unset: (value: string) => string = (value) => ` (default: ${value})`,
) =>
  command
    .option('--concurrency <count>', `maximum number of forks that run at once${unset('20')}`)
    .option('--retries <count>', `how often to retry a failed item, each time in a new fork${unset('0')}`)
    .option('--first <count>', 'end after this many successes; interrupt and clean up the rest')
    .option('--fail-fast', 'end when an item has failed its last attempt')
    .option('--item-deadline <duration>', `hard deadline of each item${unset('1h')}`)
    .option('--deadline <duration>', `hard deadline of the batch, before clean-up${unset('1d')}`)
    .option(
      '--escalate <steps>',
      'what to do if the stop of a fork goes on failing, such as "30m: resume-and-stop, 2h: notify"; see `stop`',
    )
    .option('--escalate-may-delete', 'with --escalate: permit steps that delete the fork and all its data')
    .option(
      '--budget <duration>',
      'limit of machine time for all forks together, like 10h or 90m; a larger machine size counts more',
    )
    .addOption(
      command
        .createOption('--type <size>', `machine size of the forks${unset('that of the source')}`)
        .choices(machineSizes),
    )
    .addOption(
      command
        .createOption('--then <end>', `what to do with each fork at the end${unset('stop, so that no work is lost')}`)
        .choices(['stop', 'delete', 'keep']),
    )
    .option('--ttl <duration>', `time until a fork stops itself, renewed while its item runs${unset('30m')}`)
    .addOption(
      command
        .createOption(
          '--on-unknown <action>',
          `what to do if it is unknown whether a prompt was accepted${unset('abandon')}`,
        )
        .choices(['abandon', 'resend']),
    );

/** Options for watching a batch and saving its results. */
const withWatching = <A extends unknown[], O extends OptionValues>(command: AnyCommand<A, O>) =>
  command
    .option('--out <folder>', 'folder for results, report and files (default: ./fanout-<id>)')
    .option('--watch-deadline <duration>', 'stop watching after this time; the batch keeps running (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'print warnings only, no progress');

/** Without these, files keep their remote paths below the folder of their item. */
const withPlaces = <A extends unknown[], O extends OptionValues>(command: AnyCommand<A, O>) =>
  withWatching(
    command.option('--get <remote[:local]>', 'where to save a file that the batch collects (repeatable)', collect, []),
  );

const withItems = (parent: Parent) =>
  parent
    .command('fanout')
    .description('Run a batch of prompts durably, each in a fork of one prepared sandbox')
    // Options of `fanout` come before a subcommand; the subcommand's own options come after it.
    .enablePositionalOptions()
    .argument('[items...]', 'files of prompts: text, JSONL, JSON, CSV; - for stdin')
    .addOption(
      parent
        .createOption('--format <format>', 'format of the items (default: by file extension, else text)')
        .choices(['text', 'jsonl', 'json', 'csv', 'tsv']),
    )
    .option('--prompt <template>', 'prompt template with {{column}}, or @file (repeatable)', collect, [])
    .option('--provider <names>', 'agent harnesses, separated by commas; each item runs with each of them', collect, [])
    .option('--model <names>', 'models, separated by commas; each item runs with each of them', collect, [])
    .option(
      '--effort <levels>',
      'reasoning efforts, separated by commas; each item runs with each of them',
      collect,
      [],
    )
    .option('--repeat <count>', 'how many times to run each item', '1')
    .option('--put <local[:remote]>', 'a file or folder to write into each fork (repeatable)', collect, [])
    .option('--get <remote[:local]>', 'a file to collect from each fork (repeatable)', collect, [])
    .option('--get-diff [remote]', 'collect what a git repository changed in each fork, as changes.patch (default: .)')
    .option('--source <sandbox>', 'fork this sandbox; it is stopped first if it changed after its last snapshot')
    .option('--allow-stale', 'with --source: fork the last snapshot even if the sandbox changed after it')
    .option('--snapshot <name>', 'start from a named snapshot')
    .option('--no-check', 'start without asking the service for the source, the models and the limits of the account')
    .option('--environment <name>', 'environment of the prepared sandbox, or of forks from a snapshot')
    .option('--no-env', 'create the prepared sandbox, or forks from a snapshot, without an environment')
    .option(
      '--create-body <json>',
      'further fields of the request that creates the prepared sandbox, or forks from a snapshot',
    )
    .option('--fork-body <json>', 'further fields of the request that creates each fork: JSON, or @file')
    .option('--prompt-body <json>', 'further fields of the request of each prompt: JSON, or @file')
    .option('--no-snapshots', 'create the forks with snapshots off')
    .option('--no-monitoring', 'create the forks with monitoring off')
    .option('--each-conversation', 'run the prompts of an item in parallel, each in its own conversation')
    .option('--conversation <id>', 'with --source: each item continues this conversation of it, in its fork')
    .addOption(
      parent
        .createOption(
          '--wait-for <state>',
          'when an item starts; hydrated waits until every file of its fork is on disk',
        )
        .choices(['usable', 'hydrated'])
        .default('usable'),
    )
    .option('--setup <script>', 'setup script of the prepared sandbox: text, or @file')
    .option(
      '--prepare-put <local[:remote]>',
      'a file or folder to write into the prepared sandbox (repeatable)',
      collect,
      [],
    )
    .option(
      '--command <command>',
      'a command to run in the prepared sandbox, after the files (repeatable)',
      collect,
      [],
    )
    .option(
      '--prepare-prompt <text>',
      'a prompt for the prepared sandbox, after the commands, or @file (repeatable)',
      collect,
      [],
    )
    .addOption(
      parent.createOption('--prepare-type <size>', 'machine size of the prepared sandbox').choices(machineSizes),
    )
    .option('--prepare-deadline <duration>', 'deadline of the whole preparation (default: 1h)')
    .addOption(
      parent
        .createOption(
          '--prepare-then <end>',
          'what to do with the prepared sandbox after the batch; after delete, the batch cannot be resumed (default: stop)',
        )
        .choices(['stop', 'delete']),
    );

export const declareFanout = (parent: Parent) =>
  withWatching(
    withPolicy(withItems(parent))
      .option('--id <batch>', 'batch id; if a batch has this id, attach to it instead of starting another')
      .option('--title <title>', 'title for lists and the report')
      .option('--label <name=value>', 'label that lists show and select by (repeatable)', collect, [])
      .option(
        '--notify <target>',
        'notify a URL, slack:URL, teams:URL or discord:URL when the batch ends or is blocked',
      )
      .option('--dry-run', 'check the source and the items, print the maximum machine time, and start nothing')
      .option('--detach', 'start the batch, print its id and exit'),
  ).addHelpText('after', help);

export const declareList = (parent: Parent) => declareListOf(parent, 'batches');

export const declareShow = (parent: Parent) =>
  parent
    .command('show')
    .description('Show the progress of a batch, or its outcome')
    .argument('<batch>', 'id of the batch')
    .option('--json', 'print one JSON object on stdout');

export const declareWatch = (parent: Parent) =>
  withPlaces(
    parent
      .command('watch')
      .description('Watch a batch until it ends and download its results, as `fanout` does')
      .argument('<batch>', 'id of the batch'),
  );

export const declareCancel = (parent: Parent) =>
  parent
    .command('cancel')
    .description('Cancel a batch: interrupt every fork, stop or delete it, and check that it is stopped or deleted')
    .argument('<batch>', 'id of the batch')
    .option('--wait', 'wait until the batch has ended')
    .option('--json', 'print one JSON object on stdout');

const resumeHelp = `
Completed items are not repeated, unless --only names them. What is not given stays: an item runs with what it last ran
with, and the batch with its options. Earlier attempts stay beside the new ones in the report and the results.

Examples:
  sandflow fanout resume nightly --budget 20h
  sandflow fanout resume nightly --prompt @better.md --dry-run
  sandflow fanout resume nightly --only row-03,row-09 --model gpt-5
  sandflow fanout resume nightly --prompt "{{prompt}} Answer in one line."
`;

export const declareResume = (parent: Parent) =>
  withPlaces(
    withPolicy(
      parent
        .command('resume')
        .description('Run the missing and failed items of an ended batch, unchanged or with another prompt or model')
        .argument('<batch>', 'id of the batch')
        .option(
          '--only <ids>',
          'run only these items, separated by commas, even if completed (repeatable)',
          collect,
          [],
        )
        .option(
          '--prompt <template>',
          'new prompt, with the columns with which the items were submitted, or @file (repeatable)',
          collect,
          [],
        )
        .option('--provider <name>', 'another agent harness; model and effort are then not taken over')
        .option('--model <name>', 'another model; the effort is then not taken over')
        .addOption(
          parent
            .createOption('--effort <level>', 'another reasoning effort')
            .choices(['none', 'low', 'medium', 'high', 'xhigh', 'max']),
        )
        .option('--no-retry-failed', 'run only items that were not started or were cancelled')
        .option('--no-check', 'resume without asking the service for the source and the models')
        .option('--dry-run', 'print which items would run, and with which prompt, and start nothing')
        .option('--detach', 'start the batch, print its id and exit')
        .addHelpText('after', resumeHelp),
      () => '',
    ),
  );

export const declareResults = (parent: Parent) =>
  parent
    .command('results')
    .description('Print the results of a batch, running or ended, as JSONL: one line per item')
    .argument('<batch>', 'id of the batch');

const logsHelp = `
Examples:
  sandflow fanout logs nightly item-3       what the item did and what its agent said
  sandflow fanout logs nightly item-3 -f    live, until the item ends
`;

export const declareLogs = (parent: Parent) =>
  parent
    .command('logs')
    .description('Print the transcript of one item of a batch')
    .argument('<batch>', 'id of the batch')
    .argument('[item]', 'id of the item; without it, the command names items that failed')
    .option('-f, --follow', 'continue live until the item ends')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', logsHelp);

export const declareReport = (parent: Parent) =>
  parent
    .command('report')
    .description('Write the HTML report of a batch, running or ended')
    .argument('<batch>', 'id of the batch')
    .option('--out <file>', 'output file (default: ./fanout-<id>/report.html)');

export type FanoutOptions = WithEnd<OptionsOf<typeof declareFanout>>;
export type ItemLogsOptions = OptionsOf<typeof declareLogs>;
export type WatchFanoutOptions = OptionsOf<typeof declareWatch>;
export type ResumeFanoutOptions = WithEnd<OptionsOf<typeof declareResume>>;
/** Options that `fanout` and `fanout resume` share. An option that was not given is undefined. */
export type PolicyOptions = Omit<
  ResumeFanoutOptions,
  | 'retryFailed'
  | 'only'
  | 'prompt'
  | 'provider'
  | 'model'
  | 'effort'
  | 'check'
  | 'dryRun'
  | 'detach'
  | keyof WatchFanoutOptions
>;
