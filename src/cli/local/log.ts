import type { AddCommand } from '../command.js';
import type { LocalLogOptions } from './show-log.js';

export const addLocalLog: AddCommand = (parent, context) => {
  parent
    .command('log')
    .description('Show the calls that a running local service has had, one a line; without bodies, keys and secrets')
    .option('--follow', 'go on with those to come, until Ctrl-C')
    .option('-n, --lines <count>', 'how many of the last calls to begin with', '20')
    .option('--endpoint <name>', 'only calls of one endpoint, such as createSandbox')
    .option('--status <status>', 'only answers of a status or its class, such as 404 or 5xx')
    .option('--json', 'print each call as one line of JSON')
    .action(async (options: LocalLogOptions) => {
      const { showLog } = await import('./show-log.js');
      await showLog(options, context);
    });
};
