import { Option } from 'commander';
import { type AddCommand, collect } from '../command.js';
import type { RunOptions } from './options.js';

const help = `
Examples:
  sandflow run "Say hello"                     a text
  sandflow run task.md --get out/report.md     a file; a result comes back to this folder
  git diff | sandflow run - --model MODEL      stdin
  sandflow run task.md --id nightly-42         the same id never starts twice
`;

/** `sandflow run`: one job, from the prompt to the result. */
export const addRun: AddCommand = (parent, context) => {
  parent
    .command('run')
    .description('Run a prompt durably in a sandbox and print its result')
    .argument('[prompt...]', 'a text, a file, or - for stdin; several run in order in one conversation')
    .option('--prompt <text>', 'a further prompt, always as text (repeatable)', collect, [])
    .option('--each-conversation', 'run the prompts side by side, each in a conversation of its own')
    .option('--provider <name>', 'agent harness, such as codex or claude-code')
    .option('--model <name>', 'model of the provider')
    .addOption(
      new Option('--effort <level>', 'reasoning effort').choices(['none', 'low', 'medium', 'high', 'xhigh', 'max']),
    )
    .addOption(new Option('--type <size>', 'machine size').choices(['small', 'default', 'large', 'xlarge']))
    .option('--ttl <duration>', 'auto-stop of the sandbox, renewed while the job works', '30m')
    .option('--id <job>', 'names the job: the same id attaches to it, and never starts it twice')
    .option('--again', 'with --id: start anew where the earlier job has ended')
    .option('--from <snapshot>', 'create the sandbox from a named snapshot')
    .option('--sandbox <id>', 'use an existing sandbox; it is resumed when archived')
    .option('--environment <name>', 'environment of the new sandbox')
    .option('--setup <script>', 'setup script of the new sandbox: its text, or @file')
    .option('--put <local:remote>', 'a file or folder to write before the first prompt (repeatable)', collect, [])
    .option('--get <remote[:local]>', 'a file to collect at the end (repeatable)', collect, [])
    .addOption(
      new Option('--then <end>', 'what becomes of the sandbox (default: stop, or keep with --sandbox)').choices([
        'stop',
        'delete',
        'keep',
      ]),
    )
    .addOption(
      new Option('--wait-for <state>', 'hydrated waits until every file of a snapshot is on disk')
        .choices(['usable', 'hydrated'])
        .default('usable'),
    )
    .option('--deadline <duration>', 'hard deadline of the job; clean-up comes after it', '1h')
    .addOption(
      new Option('--on-unknown <action>', 'when nobody can know whether a call took effect')
        .choices(['wait', 'abandon', 'resend'])
        .default('wait'),
    )
    .option('--notify <target>', 'tell a URL, command:… or command-id:…, when the job ends or is blocked')
    .option('--no-snapshots', 'create the sandbox with snapshots off')
    .option('--no-monitoring', 'create the sandbox with monitoring off')
    .option('--no-env', 'create the sandbox without an environment')
    .option('--detach', 'start the job, print its id and leave')
    .option('--watch-deadline <duration>', 'stop watching after this long; the job goes on (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'no progress, only warnings')
    .addHelpText('after', help)
    .action(
      async (prompts: string[], { then: end, ...given }: Omit<RunOptions, 'end'> & { then?: RunOptions['end'] }) => {
        const options: RunOptions = { ...given, end };
        context.jobId = options.id ?? null;
        const { runJob } = await import('./run-job.js');
        context.exitCode = await runJob(prompts, options, context);
      },
    );
};
