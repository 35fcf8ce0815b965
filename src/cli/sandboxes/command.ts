import { type AddCommand, collect } from '../command.js';
import type { ListOptions } from './list-sandboxes.js';
import { addSandboxesShow } from './show.js';

/** `sandflow sandboxes`: every sandbox of the account, from jobs or not. */
export const addSandboxes: AddCommand = (parent, context) => {
  const sandboxes = parent
    .command('sandboxes')
    .description('List the sandboxes of the account, newest first')
    .option('--state <state>', 'only sandboxes in this state (repeatable)', collect, [])
    .option('--name <pattern>', 'only matching names; * matches any characters, ? matches one')
    .option('--cost', 'show the cost of each sandbox this month')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: ListOptions) => {
      const { listSandboxes } = await import('./list-sandboxes.js');
      await listSandboxes(options, context);
    });
  addSandboxesShow(sandboxes, context);
};
