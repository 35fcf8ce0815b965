import { type AddCommand, collect } from '../command.js';
import type { ListOptions } from './list-sandboxes.js';
import { addSandboxesShow } from './show.js';

/** `sandflow sandboxes`: what runs and what is kept, of jobs and of everybody else. */
export const addSandboxes: AddCommand = (parent, context) => {
  const sandboxes = parent
    .command('sandboxes')
    .description('List the sandboxes of the account, newest first')
    .option('--state <state>', 'only those in this state; may be given again', collect, [])
    .option('--name <pattern>', 'only those of this name; * stands for any characters, ? for one')
    .option('--cost', 'with what each has cost this month')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: ListOptions) => {
      const { listSandboxes } = await import('./list-sandboxes.js');
      await listSandboxes(options, context);
    });
  addSandboxesShow(sandboxes, context);
};
