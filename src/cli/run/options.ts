import { collect, type OptionsOf, type Parent, type WithEnd } from '../command.js';

const help = `
Examples:
  sandflow run "Say hello"                     text
  sandflow run task.md --get out/report.md     a file; the result is saved in the current folder
  sandflow run "Fix the tests" --fork bx_2345abcd --get-diff=app    what git changed in app, as changes.patch
  git diff | sandflow run - --model MODEL      stdin
  sandflow run task.md --id nightly-42         repeating an id attaches to its job

`;

export const declareRun = (parent: Parent) =>
  parent
    .command('run')
    .description('Run a prompt durably in a sandbox and print its result')
    .argument('[prompt...]', 'text, a file, or - for stdin; several run in order in one conversation')
    .option('--prompt <text>', 'another prompt: text, or @file (repeatable)', collect, [])
    .option('--each-conversation', 'run the prompts in parallel, each in its own conversation')
    .option('--provider <name>', 'agent harness, such as codex or claude-code')
    .option('--model <name>', 'model of the provider')
    .addOption(
      parent
        .createOption('--effort <level>', 'reasoning effort')
        .choices(['none', 'low', 'medium', 'high', 'xhigh', 'max']),
    )
    .addOption(parent.createOption('--type <size>', 'machine size').choices(['small', 'default', 'large', 'xlarge']))
    .option('--ttl <duration>', 'time until the sandbox stops itself, renewed while the job runs; none: never', '30m')
    .option('--id <job>', 'job id; if a job has this id, attach to it instead of starting another')
    .option('--label <name=value>', 'label that lists show and select by (repeatable)', collect, [])
    .option('--again', 'with --id: start a new job if the earlier one has finished')
    .option('--reuse', 'with --id: attach to the job even if its prompts or options differ')
    .option('--from <snapshot>', 'create the sandbox from a named snapshot')
    .option('--sandbox <id>', 'reuse an existing sandbox; it is resumed if it is archived')
    .option('--fork <id>', 'create the sandbox as a fork of another one, which does not change')
    .option('--no-check', 'start without asking the service for the named sandbox, snapshot, provider or model')
    .option('--conversation <id>', 'with --sandbox or --fork: continue this conversation')
    .option('--environment <name>', 'environment of the new sandbox')
    .option('--setup <script>', 'setup script of the new sandbox: text, or @file')
    .option('--create-body <json>', 'further fields of the request that creates or forks the sandbox: JSON, or @file')
    .option('--prompt-body <json>', 'further fields of the request of each prompt: JSON, or @file')
    .option('--put <local[:remote]>', 'a file or folder to write before the first prompt (repeatable)', collect, [])
    .option('--get <remote[:local]>', 'a file to collect at the end (repeatable)', collect, [])
    .option('--get-diff [remote[:local]]', 'collect what a git repository changed, as changes.patch (default: .)')
    .addOption(
      parent
        .createOption('--then <end>', 'what to do with the sandbox at the end (default: stop, or keep with --sandbox)')
        .choices(['stop', 'delete', 'keep']),
    )
    .addOption(
      parent
        .createOption('--wait-for <state>', 'when to start; hydrated waits until every file of a snapshot is on disk')
        .choices(['usable', 'hydrated'])
        .default('usable'),
    )
    .option('--deadline <duration>', 'hard deadline of the job, before clean-up', '1h')
    .addOption(
      parent
        .createOption('--on-unknown <action>', 'what to do if it is unknown whether a call took effect')
        .choices(['wait', 'abandon', 'resend'])
        .default('wait'),
    )
    .option('--notify <target>', 'notify a URL, slack:URL, teams:URL or discord:URL when the job ends or is blocked')
    .option(
      '--escalate <steps>',
      'what to do if the stop at the end goes on failing, such as "30m: resume-and-stop, 2h: notify"; see `stop`',
    )
    .option('--escalate-may-delete', 'with --escalate: permit steps that delete the sandbox and all its data')
    .option('--no-snapshots', 'create the sandbox with snapshots off')
    .option('--no-monitoring', 'create the sandbox with monitoring off')
    .option('--no-env', 'create the sandbox without an environment')
    .option('--detach', 'start the job, print its id and exit')
    .option('--watch-deadline <duration>', 'stop watching after this time; the job keeps running (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'print warnings only, no progress')
    .addHelpText('after', help);

export type RunOptions = WithEnd<OptionsOf<typeof declareRun>>;
