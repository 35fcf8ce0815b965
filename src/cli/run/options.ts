import type { OptionsOf, Parent } from '../command.js';
import { withRare } from '../rare-options.js';
import { withSettings } from '../settings/options.js';

const help = `
Examples:
  sandflow run "Say hello"                     text
  sandflow run task.md --get out/report.md     a file; the result is saved in the current folder
  sandflow run "Fix the tests" --fork bx_2345abcd --get-diff=app    what git changed in app, as changes.patch
  git diff | sandflow run - --model MODEL      stdin
  sandflow run task.md --id nightly-42         repeating an id attaches to its job
  sandflow run job.yaml                        a file with the prompt and its settings

job.yaml holds the prompt and any of these options, without their dashes:
  prompt: Fix the tests
  model: MODEL
  get: [out/report.md]
`;

export const declareRun = (parent: Parent) =>
  withRare(
    withSettings(
      parent
        .command('run')
        .description('Run a prompt durably in a sandbox and print its result')
        .argument('[prompt...]', 'text, a file, or - for stdin; several run in order in one conversation')
        // Before `--check`, because only so it is true by default.
        .option('--no-check', 'start without asking the service for the named sandbox, snapshot, provider or model'),
      'run',
    )
      .option('--id <job>', 'job id; if a job has this id, attach to it instead of starting another')
      .option('--again', 'with --id: start a new job if the earlier one has finished')
      .option('--reuse', 'with --id: attach to the job even if its prompts or options differ')
      .option('--detach', 'start the job, print its id and exit')
      .option('--watch-deadline <duration>', 'stop watching after this time; the job keeps running (exit code 4)')
      .option('--json', 'print one JSON object on stdout')
      .option('--quiet', 'print warnings only, no progress'),
    ['--again', '--reuse', '--no-check', '--watch-deadline', '--quiet'],
  ).addHelpText('after', help);

export type RunOptions = OptionsOf<typeof declareRun>;
