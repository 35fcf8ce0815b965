import { collect, type OptionsOf, type Parent } from '../command.js';
import { requireSandboxId } from '../usage-error.js';

export const declareSandboxes = (parent: Parent) =>
  parent
    .command('sandboxes')
    .description('List the sandboxes of the account, newest first')
    // Options before `show` belong to the list, and options after it to `show`.
    .enablePositionalOptions()
    .option('--state <state>', 'only sandboxes in this state (repeatable)', collect, [])
    .option('--name <pattern>', 'only matching names; * matches any characters, ? matches one')
    .option('--cost', 'show the cost of each sandbox this month')
    .option('--json', 'print one JSON object on stdout');

export const declareShow = (parent: Parent) =>
  parent
    .command('show')
    .description('Show a sandbox: its state, machine, environment, snapshot and last stop')
    .argument('<sandbox>', 'id of the sandbox', requireSandboxId)
    .option('--json', 'print one JSON object on stdout');

const execHelp = `
One word is a line for the shell of the sandbox; several words reach the program as they are. The command has no
stdin, and the service cuts a very long output.

Exit codes: that of the command, or one of sandflow, with an error: message, if the command did not run.
`;

export const declareExec = (parent: Parent) =>
  parent
    .command('exec')
    .description('Run a command in a sandbox, and print its output')
    .argument('<sandbox>', 'id of the sandbox', requireSandboxId)
    .argument('<command...>', "the command, after --, like 'ls out | wc -l'")
    .option('--cwd <folder>', 'where to run it (default: the working directory of the sandbox)')
    .option('--timeout <duration>', 'how long it may run', '2m')
    .addHelpText('after', execHelp);

export const declareCopy = (parent: Parent) =>
  parent
    .command('cp')
    .description('Copy files into a sandbox, or out of it')
    .argument('<from>', 'a file or folder here, or bx_2345abcd:PATH in a sandbox')
    .argument('<to>', 'the other: a path here, or bx_2345abcd:PATH; a folder of a sandbox arrives as .tar.gz');

export const declareSsh = (parent: Parent) =>
  parent
    .command('ssh')
    .description('Register your SSH key with a sandbox, and log in by OpenSSH')
    .argument('<sandbox>', 'id of the sandbox', requireSandboxId)
    .argument('[arguments...]', 'after --: more arguments of ssh, such as a command')
    .option('--identity <file>', 'your private key, with its .pub beside it (default: the first usual one in ~/.ssh)');

export type ExecOptions = OptionsOf<typeof declareExec>;
export type SshOptions = OptionsOf<typeof declareSsh>;
export type ListSandboxesOptions = OptionsOf<typeof declareSandboxes>;
