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
  text   a prompt a line; blank lines and lines that begin with # are left out. Where the first line is ---,
         prompts have several lines, and each goes on to the next line of ---
  JSONL  a prompt as a string, or an object: prompt or prompts, id, provider, model, effort, type, end, deadline,
         put {"remote": "local"}, get ["remote"], labels
  CSV    with a header; columns of the same names (put as LOCAL:REMOTE), all others are labels
  With --prompt the prompts are made of columns: {{column}}; {{prompt}} is a line of a text file.

Where the forks come from:
  --source or --snapshot, or a sandbox that the batch makes, prepares and stops: --environment, --setup,
  --prepare-put, --command, --prepare-prompt.

Examples:
  sandflow fanout prompts.txt --source bx_2345abcd
  sandflow fanout issues.csv --prompt "Fix {{issue}} in {{file}}" --get report.md --budget 10h
  sandflow fanout prompts.jsonl --command "git clone https://example.com/app.git" --model m1,m2 --repeat 3
  sandflow fanout prompts.txt --snapshot base --first 5 --dry-run
  generate | sandflow fanout - --format jsonl --id nightly-42

The batch lives in Temporal: Ctrl-C leaves it going on. Afterwards results.jsonl, report.html and the files of the
items are in ./fanout-<id>, and the path of results.jsonl is on stdout.

Exit codes:
  0    the batch completed: every item, or as many as --first asked for
  1    the batch has another outcome, it left something to look after, or a file of a completed item is missing
  2    bad usage or items; nothing was started
  3    Temporal or the service cannot be reached; the batch goes on
  4    the watch's own deadline passed (--watch-deadline); the batch goes on
  130  detached by Ctrl-C; the batch goes on
`;

/** `sandflow fanout`: a batch of prompts, each in a fork of its own of one prepared sandbox. */
export const addFanout: AddCommand = (parent, context) => {
  const fanout = parent
    .command('fanout')
    .description('Run a batch of prompts durably, each in a fork of one prepared sandbox')
    // Its options come before the name of a command below it, whose own come after.
    .enablePositionalOptions()
    .argument('[items...]', 'files of prompts: text, JSONL, CSV; - for stdin')
    .addOption(
      new Option('--format <format>', 'of the items; by default the ending of a file says it, else text').choices([
        'text',
        'jsonl',
        'csv',
        'tsv',
      ]),
    )
    .option('--prompt <template>', 'a prompt made of columns, or @file with one (repeatable)', collect, [])
    .option('--provider <names>', 'agent harness; several, divided by commas, are tried each', collect, [])
    .option('--model <names>', 'model; several are tried each', collect, [])
    .option('--effort <levels>', 'reasoning effort; several are tried each', collect, [])
    .option('--repeat <count>', 'run each item so many times', '1')
    .option('--put <local:remote>', 'a file or folder to write into each fork (repeatable)', collect, [])
    .option('--get <remote>', 'a file to collect from each fork (repeatable)', collect, []);
  addSourceOptions(fanout);
  addPolicyOptions(fanout)
    .option('--id <batch>', 'names the batch: the same id attaches to it, and never starts it twice')
    .option('--title <text>', 'shown in lists and in the report')
    .option('--notify <target>', 'tell a URL, command:… or command-id:…, when the batch ends or is blocked')
    .option('--dry-run', 'check the items, say how many they are and what they may cost, and start nothing')
    .option('--detach', 'start the batch, print its id and leave');
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
    .option('--source <sandbox>', 'fork this sandbox; it is stopped first where its snapshot is older than its work')
    .option('--allow-stale', 'with --source: fork the snapshot that there is')
    .option('--snapshot <name>', 'start from a named snapshot')
    .option('--environment <name>', 'environment of the prepared sandbox, or of those from a snapshot')
    .option('--setup <script>', 'setup script of the prepared sandbox: its text, or @file')
    .option('--prepare-put <local:remote>', 'a file or folder to write into it (repeatable)', collect, [])
    .option('--command <command>', 'a command to run in it, after the files (repeatable)', collect, [])
    .option('--prepare-prompt <text>', 'a prompt for it, after the commands, or @file (repeatable)', collect, [])
    .addOption(new Option('--prepare-type <size>', 'its machine size').choices(machineSizes))
    .option('--prepare-deadline <duration>', 'how long all that may take (default: 1h)')
    .addOption(
      new Option(
        '--prepare-then <end>',
        'what becomes of it after the batch; without it there is no resume (default: stop)',
      ).choices(['stop', 'delete']),
    );
}
