import { type AddCommand, collect, type OptionsOf, type Parent } from '../command.js';

const list = (parent: Parent) =>
  parent
    .command('sandboxes')
    .description('List the sandboxes of the account, newest first')
    .option('--state <state>', 'only sandboxes in this state (repeatable)', collect, [])
    .option('--name <pattern>', 'only matching names; * matches any characters, ? matches one')
    .option('--cost', 'show the cost of each sandbox this month')
    .option('--json', 'print one JSON object on stdout');

export type ListSandboxesOptions = OptionsOf<typeof list>;

/** `sandflow sandboxes`: every sandbox of the account, whether or not a job created it. */
export const addSandboxes: AddCommand = (parent, context) => {
  const sandboxes = list(parent).action(async (options) =>
    (await import('./list-sandboxes.js')).listSandboxes(options, context),
  );
  sandboxes
    .command('show')
    .description('Show a sandbox: its state, machine, environment, snapshot and last stop')
    .argument('<sandbox>', 'id of the sandbox')
    .option('--json', 'print one JSON object on stdout')
    .action(async (sandboxId, _, command) => {
      const { showSandbox } = await import('./show-sandbox.js');
      // The parent command has --json too, and parses it first.
      await showSandbox(sandboxId, command.optsWithGlobals(), context);
    });
};
