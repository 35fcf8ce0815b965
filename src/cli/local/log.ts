import type { AddCommand } from '../command.js';
import type { LocalLogOptions } from './show-log.js';

export const addLocalLog: AddCommand = (parent, context) => {
  parent
    .command('log')
    .description('Show the calls to a running local service, one per line, without bodies, keys or secrets')
    .option('--follow', 'keep printing new calls until Ctrl-C')
    .option('-n, --lines <count>', 'number of recent calls to show first', '20')
    .option('--endpoint <name>', 'only calls to this endpoint, like createSandbox')
    .option('--status <status>', 'only this response status or class, like 404 or 5xx')
    .option('--json', 'print each call as one line of JSON')
    .action(async (options: LocalLogOptions) => {
      const { showLog } = await import('./show-log.js');
      await showLog(options, context);
    });
};
