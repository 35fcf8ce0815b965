import type { AddCommand } from '../command.js';
import type { ListStopsOptions } from './list-stops.js';

export const addStopsList: AddCommand = (parent, context) => {
  parent
    .command('list')
    .description('List the stops of the account that have not ended, oldest first, with who waits for them')
    .option('--failing', 'only those whose last attempt failed')
    .option('--older-than <duration>', 'only those that were asked for longer ago')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: ListStopsOptions) => {
      const { listStops } = await import('./list-stops.js');
      await listStops(options, context);
    });
};
