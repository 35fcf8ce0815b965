/** The grammar of `sandflow up`, `status` and `down`. */
import type { OptionsOf, Parent } from '../command.js';

export const declareUp = (parent: Parent) =>
  parent
    .command('up')
    .description('Start the embedded stack in the background, and keep it up until `sandflow down`')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText(
      'after',
      `
Examples:
  sandflow up                  start the stack, or keep a running one, and print its addresses
  sandflow status              what runs, since when, and who uses it
  sandflow down                end it, unless jobs are open

Other commands start the stack too. Such a stack ends by itself after five minutes without a command and without an open
job; SANDFLOW_IDLE_SECONDS sets another time.
`,
    );

export const declareStatus = (parent: Parent) =>
  parent
    .command('status')
    .description('Show the embedded stack: parts, addresses, who uses it, open jobs; starts nothing')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText(
      'after',
      `
Examples:
  sandflow status
  sandflow status --json       "running" is false if no stack runs
`,
    );

export const declareDown = (parent: Parent) =>
  parent
    .command('down')
    .description('End the embedded stack; refuses while jobs are open or commands use it')
    .option('--force', 'end it anyway; open jobs continue when the stack is up again')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText(
      'after',
      `
Examples:
  sandflow down                end the stack and wait until its processes have ended
  sandflow down --force        although jobs are open: they continue at the next start

Exit codes:
  0    no stack runs any more
  2    the stack is in use and continues
`,
    );

export type DownOptions = OptionsOf<typeof declareDown>;
