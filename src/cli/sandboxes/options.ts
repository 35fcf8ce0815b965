import { collect, type OptionsOf, type Parent } from '../command.js';

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
    .argument('<sandbox>', 'id of the sandbox')
    .option('--json', 'print one JSON object on stdout');

export type ListSandboxesOptions = OptionsOf<typeof declareSandboxes>;
