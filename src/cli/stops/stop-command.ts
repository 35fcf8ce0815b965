import type { AddCommand } from '../command.js';
import type { StopCommandOptions } from './options.js';

const help = `
Examples:
  sandflow stop bx_2345abcd --wait               until it is archived, or the deadline
  sandflow stop --all --name 'try-*' --yes       every sandbox of such a name
  sandflow stop bx_2345abcd --alert-after 10m --notify https://hooks.example.com/stops

Exit codes:
  0    every stop was accepted; with --wait, every sandbox ended archived or already_archived
  1    one was not, or did not
  130  Ctrl-C ended the wait; the stops go on
`;

/** `sandflow stop`: stops that are really finished, many at once. */
export const addStop: AddCommand = (parent, context) => {
  parent
    .command('stop')
    .description('Stop sandboxes durably; with --wait until they are really archived')
    .argument('[sandbox...]', 'ids of sandboxes')
    .option('--all', 'every sandbox of the account that can be stopped; asks first')
    .option('--name <pattern>', 'with --all: only those of this name; * stands for any characters, ? for one')
    .option('--yes', 'with --all: do not ask')
    .option('--wait', 'wait until each has ended, and say whether its work was saved')
    .option('--deadline <duration>', 'when to stop waiting for the archive; the service goes on all the same', '30m')
    .option('--alert-after <duration>', 'when somebody is told that a stop has not ended (default: never)')
    .option(
      '--notify <target>',
      'tell a URL, command:… or command-id:…, of the alert, of a service that refuses, and of the end',
    )
    .option('--request <id>', 'names the request: the same id asks once, and takes up the wait again')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'no progress, only warnings')
    .addHelpText('after', help)
    .action(async (sandboxIds: string[], options: StopCommandOptions) => {
      const { stopSandboxes } = await import('./stop-sandboxes.js');
      context.exitCode = await stopSandboxes(sandboxIds, options, context);
    });
};
