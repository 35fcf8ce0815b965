import { type Command, Option } from 'commander';
import { type AddCommand, collect } from '../command.js';
import { addFanoutCancel } from './commands/cancel.js';
import { addFanoutList } from './commands/list.js';
import { addFanoutReport } from './commands/report.js';
import { addFanoutResults } from './commands/results.js';
import { addFanoutResume } from './commands/resume.js';
import { addPolicyOptions, addSeeThroughOptions, machineSizes, withEnd } from './commands/shared-options.js';
import { addFanoutShow } from './commands/show.js';
import { addFanoutWatch } from './commands/watch.js';
import type { FanoutOptions } from './options.js';

const help = `
Items:
  text   one prompt per line; blank lines and lines that begin with # are skipped. If the first line is ---,
         each prompt may span several lines, up to the next ---
  JSONL  a prompt as a string, or an object: prompt or prompts, id, provider, model, effort, type, end, deadline,
         put {"remote": "local"}, get ["remote"], labels
  CSV    with a header row; columns with the same names (put as LOCAL:REMOTE), all others are labels
  --prompt builds each prompt from columns: {{column}}; {{prompt}} is a line of a text file.

Source of the forks:
  --source or --snapshot, or a sandbox that the batch creates, prepares and stops: --environment, --setup,
  --prepare-put, --command, --prepare-prompt.

Examples:
  sandflow fanout prompts.txt --source bx_2345abcd
  sandflow fanout issues.csv --prompt "Fix {{issue}} in {{file}}" --get report.md --budget 10h
  sandflow fanout prompts.jsonl --command "git clone https://example.com/app.git" --model m1,m2 --repeat 3
  sandflow fanout prompts.txt --snapshot base --first 5 --dry-run
  generate | sandflow fanout - --format jsonl --id nightly-42

The batch runs in Temporal: Ctrl-C detaches and the batch keeps running. At the end, results.jsonl, report.html and
the items' files are in ./fanout-<id>, and the path of results.jsonl is on stdout.

Exit codes:
  0    the batch completed: every item, or as many as --first requires
  1    the batch ended with another outcome, left something behind, or a file of a completed item is missing
  2    invalid usage or items; nothing was started
  3    Temporal or the service is unreachable; the batch keeps running
  4    --watch-deadline passed; the batch keeps running
  130  detached by Ctrl-C; the batch keeps running
`;

/** `sandflow fanout`: a batch of prompts, each in its own fork of one prepared sandbox. */
export const addFanout: AddCommand = (parent, context) => {
  const fanout = parent
    .command('fanout')
    .description('Run a batch of prompts durably, each in a fork of one prepared sandbox')
    // Its own options come before a subcommand, and those of the subcommand after it.
    .enablePositionalOptions()
    .argument('[items...]', 'files of prompts: text, JSONL, CSV; - for stdin')
    .addOption(
      new Option('--format <format>', 'format of the items (default: by file extension, else text)').choices([
        'text',
        'jsonl',
        'csv',
        'tsv',
      ]),
    )
    .option('--prompt <template>', 'prompt template with {{column}}, or @file (repeatable)', collect, [])
    .option(
      '--provider <names>',
      'agent harness; with several, separated by commas, each item runs with each',
      collect,
      [],
    )
    .option('--model <names>', 'model; with several, each item runs with each', collect, [])
    .option('--effort <levels>', 'reasoning effort; with several, each item runs with each', collect, [])
    .option('--repeat <count>', 'how many times to run each item', '1')
    .option('--put <local:remote>', 'a file or folder to write into each fork (repeatable)', collect, [])
    .option('--get <remote>', 'a file to collect from each fork (repeatable)', collect, []);
  addSourceOptions(fanout);
  addPolicyOptions(fanout)
    .option('--id <batch>', 'batch id; an id that is in use attaches to its batch instead of starting another')
    .option('--title <text>', 'title for lists and the report')
    .option('--notify <target>', 'notify a URL, command:… or command-id:… when the batch ends or is blocked')
    .option('--dry-run', 'check and count the items, print the maximum machine-time, and start nothing')
    .option('--detach', 'start the batch, print its id and exit');
  addSeeThroughOptions(fanout)
    .addHelpText('after', help)
    .action(async (items: string[], given: Omit<FanoutOptions, 'end'> & { then?: FanoutOptions['end'] }) => {
      const { runFanout } = await import('./run-fanout.js');
      context.exitCode = await runFanout(items, withEnd(given), context);
    });
  for (const add of [
    addFanoutList,
    addFanoutShow,
    addFanoutWatch,
    addFanoutCancel,
    addFanoutResume,
    addFanoutResults,
    addFanoutReport,
  ]) {
    add(fanout, context);
  }
};

function addSourceOptions(command: Command): void {
  command
    .option('--source <sandbox>', 'fork this sandbox; it is stopped first if it changed after its last snapshot')
    .option('--allow-stale', 'with --source: fork the last snapshot as it is')
    .option('--snapshot <name>', 'start from a named snapshot')
    .option('--environment <name>', 'environment of the prepared sandbox, or of forks from a snapshot')
    .option('--setup <script>', 'setup script of the prepared sandbox: text, or @file')
    .option('--prepare-put <local:remote>', 'a file or folder to write into it (repeatable)', collect, [])
    .option('--command <command>', 'a command to run in it, after the files (repeatable)', collect, [])
    .option('--prepare-prompt <text>', 'a prompt for it, after the commands, or @file (repeatable)', collect, [])
    .addOption(new Option('--prepare-type <size>', 'its machine size').choices(machineSizes))
    .option('--prepare-deadline <duration>', 'deadline of the whole preparation (default: 1h)')
    .addOption(
      new Option(
        '--prepare-then <end>',
        'what to do with it after the batch; a batch cannot be resumed after delete (default: stop)',
      ).choices(['stop', 'delete']),
    );
}
