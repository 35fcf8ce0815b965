import type { OptionValues } from '@commander-js/extra-typings';
import { defaultRepositoryUrl, itemFormats } from '../../fanout/file-kinds.js';
import { jobSettings } from '../../job-settings/job-settings.js';
import type { Setting } from '../../job-settings/setting.js';
import { type AnyCommand, collect, jsonCommand, type OptionsOf, type Parent } from '../command.js';
import { declareListOf } from '../list-options.js';
import { withRare } from '../rare-options.js';
import { withSettings } from '../settings/options.js';
import type { ItemsInFile } from '../settings/settings-file.js';

/** The settings that an item may have, but its files. */
const ofItems = Object.entries<Setting>(jobSettings)
  .filter(([, { item, kind }]) => item === true && kind !== 'files' && kind !== 'paths')
  .map(([name]) => name);

const help = `
Items:
  text   one prompt per line; blank lines and lines that begin with # are skipped. If the first line is ---,
         each prompt may span several lines, up to the next ---
  file   the whole file, such as Markdown: fanout tasks/*.md
  JSONL  a prompt as a string, or an object: prompt or prompts, id, labels, put {"remote": "local"}, get ["remote"],
         ${ofItems.join(', ')}, source, snapshot, environment, setup
  JSON   one list of such strings and objects
  swe-bench  JSONL of rows of SWE-bench: each item runs in a fork of a clone of its repository, in the folder app
  CSV    with a header row; a column named after a field of JSONL sets that field (put as LOCAL:REMOTE), and
         all other columns become labels
  --prompt is a template: {{column}} is the value of that column, {{prompt}} the line of a text file,
  and {{{{x}}}} the text {{x}}.

  --get out/report.md saves that file of each item as files/<item>/out/report.md in the folder of the results;
  --get out/report.md:report.md saves it as files/<item>/report.md.

Source of the forks:
  --source or --snapshot; otherwise a fresh sandbox that the batch creates, prepares (--environment, --setup,
  --prepare-put, --command, --prepare-prompt) and stops. An item may name its own in source, snapshot, environment
  and setup; items with the same share one, and at most --sources-at-once exist at a time.

Examples:
  sandflow fanout prompts.txt
  sandflow fanout prompts.txt --source bx_2345abcd
  sandflow fanout issues.csv --prompt "Fix {{issue}} in {{file}}" --get report.md --budget 10h
  sandflow fanout prompts.txt --source bx_2345abcd --get-diff=app       one patch of each fork
  sandflow fanout prompts.jsonl --command "git clone https://example.com/app.git" --model m1,m2 --repeat 3
  sandflow fanout prompts.txt --snapshot base --first 5 --dry-run
  sandflow fanout rows.jsonl --format swe-bench --get-diff=app
  generate | sandflow fanout - --format jsonl --id nightly-42
  sandflow fanout batch.yaml                      a file with the items and any of these options, without their dashes

The batch runs in Temporal: once it has started, Ctrl-C leaves it running. At the end, results.jsonl, report.html and
the items' files are in ./fanout-<id>, and the path of results.jsonl is on stdout.

Exit codes:
  0    the batch completed: every item, or as many as --first requires
  1    the batch ended with another outcome, left something behind, or a file of a completed item is missing
  2    invalid usage or items; nothing was started
  3    Temporal or the service is unreachable; the batch keeps running, if it was started
  4    --watch-deadline passed; the batch keeps running
  6    items failed, each by a machine, the service or sandflow: resume the batch later
  130  ended by Ctrl-C; the batch keeps running, if it was started
`;

/** Options for watching a batch and saving its results. */
const withWatching = <A extends unknown[], O extends OptionValues>(command: AnyCommand<A, O>) =>
  command
    .option('--out <folder>', 'folder for results, report and files (default: ./fanout-<id>)')
    .option('--watch-deadline <duration>', 'stop watching after this time; the batch keeps running (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'print warnings only, no progress');

const withItems = (parent: Parent) =>
  parent
    .command('fanout')
    .description('Run a batch of prompts durably, each in a fork of one prepared sandbox')
    // Options of `fanout` come before a subcommand; the subcommand's own options come after it.
    .enablePositionalOptions()
    .argument('[items...]', 'files of prompts: text, Markdown, JSONL, JSON, CSV; - for stdin')
    .addOption(
      parent
        .createOption('--format <format>', 'format of the items (default: by file extension; text for stdin)')
        .choices(itemFormats),
    )
    .option(
      '--repository-url <url>',
      `with --format swe-bench: where the repository of a row is (default: ${defaultRepositoryUrl})`,
    );

export const declareFanout = (parent: Parent) =>
  withRare(
    withWatching(
      withSettings(
        // Before `--check`, because only so it is true by default.
        withItems(parent).option(
          '--no-check',
          'start without asking the service for the source, the models and the limits of the account',
        ),
        'fanout',
      )
        .option('--id <batch>', 'batch id; if a batch has this id, attach to it instead of starting another')
        .option('--dry-run', 'check the source and the items, print the maximum machine time, and start nothing')
        .option('--detach', 'start the batch, print its id and exit'),
    ),
    ['--format', '--repository-url', '--no-check', '--detach', '--out', '--watch-deadline', '--quiet'],
  ).addHelpText('after', help);

export const declareList = (parent: Parent) => declareListOf(parent, 'batches');

export const declareShow = (parent: Parent) =>
  jsonCommand(parent, 'show', 'Show the progress of a batch, or its outcome').argument('<batch>', 'id of the batch');

export const declareWatch = (parent: Parent) =>
  withWatching(
    parent
      .command('watch')
      .description('Watch a batch until it ends and download its results, as `fanout` does')
      .argument('<batch>', 'id of the batch')
      // Without it, files keep their remote paths below the folder of their item.
      .option('--get <remote[:local]>', jobSettings.get.on.resume.help, collect, []),
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
  withWatching(
    withSettings(
      parent
        .command('resume')
        .description('Run the missing and failed items of an ended batch, unchanged or with another prompt or model')
        .argument('<batch>', 'id of the batch')
        .option(
          '--only <ids>',
          'run only these items, separated by commas, even if completed (repeatable)',
          collect,
          [],
        ),
      'resume',
    )
      .option('--no-retry-failed', 'run only items that were not started or were cancelled')
      .option('--no-check', 'resume without asking the service for the source and the models')
      .option('--dry-run', 'print which items would run, and with which prompt, and start nothing')
      .option('--detach', 'start the batch, print its id and exit'),
  ).addHelpText('after', resumeHelp);

/** What `fanout results` prints. */
export const resultFormats = ['jsonl', 'predictions', 'junit'] as const;

export const declareResults = (parent: Parent) =>
  parent
    .command('results')
    .description('Print the results of a batch, running or ended, as JSONL: one line per item')
    .argument('<batch>', 'id of the batch')
    .addOption(
      parent
        .createOption('--format <format>', 'JSONL, predictions for SWE-bench, or JUnit XML')
        .choices(resultFormats)
        .default('jsonl' as const),
    )
    .option('--model-name <name>', 'with predictions: what is evaluated (default: the label model of each item)');

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

export type FanoutOptions = OptionsOf<typeof declareFanout> & {
  /** The items that a batch file holds itself. */
  readonly itemsInFile?: ItemsInFile;
};
export type ItemLogsOptions = OptionsOf<typeof declareLogs>;
export type WatchFanoutOptions = OptionsOf<typeof declareWatch>;
export type ResumeFanoutOptions = OptionsOf<typeof declareResume>;
