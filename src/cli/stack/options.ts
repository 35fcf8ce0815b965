/** The grammar of `sandflow up`, `status` and `down`. */
import { jsonCommand, type Parent } from '../command.js';

export const declareUp = (parent: Parent) =>
  parent
    .command('up')
    .description('Start the embedded stack, and keep it up until `sandflow down`')
    .addOption(
      parent.createOption('--foreground', 'run it until Ctrl-C instead, and print its addresses').conflicts('json'),
    )
    .option('--ready-json', 'with --foreground: print one JSON line on stdout when ready')
    .option('--assume <file>', 'the local service does as the service of this record of `doctor --probe`')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText(
      'after',
      `
Examples:
  sandflow up                  start the stack, or keep a running one, and print its addresses
  sandflow up --foreground     run it until Ctrl-C or SIGTERM, for example in a systemd unit
  sandflow status              show what is running, since when, and who uses it
  sandflow down                stop it, unless it is in use

Other commands start the stack too. Such a stack stops automatically after five minutes without a command and without an open
job; SANDFLOW_IDLE_SECONDS sets another time.
`,
    );

export const declareSupervisor = (parent: Parent) =>
  parent
    .command('supervisor', { hidden: true })
    .description('Run the embedded stack of a SANDFLOW_HOME')
    .option('--assume <file>', 'a record of `doctor --probe`');

export const declareStatus = (parent: Parent) =>
  jsonCommand(parent, 'status', 'Show the parts, addresses, users and open jobs of the embedded stack; starts nothing')
    .summary('Show the embedded stack, its users and its open jobs')
    .addHelpText(
      'after',
      `
Examples:
  sandflow status
  sandflow status --json       "running" is false if no stack is running
`,
    );

export const declareDown = (parent: Parent) =>
  parent
    .command('down')
    .description('Stop the embedded stack; refuses while jobs are open or commands use it')
    .summary('Stop the embedded stack, unless it is in use')
    .option('--force', 'stop it anyway; open jobs continue when the stack is up again')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText(
      'after',
      `
Examples:
  sandflow down                stop the stack and wait until its processes have ended
  sandflow down --force        stop it even if it is in use; open jobs continue at the next start

Notifications that are not delivered do not keep it up. It names them, and the next stack repeats them.

Exit codes:
  0    the stack is stopped, or was not running
  2    the stack is in use and keeps running
`,
    );
