import type { AddCommand } from '../command.js';
import type { ListStopsOptions } from './list-stops.js';

export const addStopsList: AddCommand = (parent, context) => {
  parent
    .command('list')
    .description('List the open stops of the account, oldest first, with the number of waiting requests')
    .option('--failing', 'only stops whose last attempt failed')
    .option('--older-than <duration>', 'only stops that were requested longer ago than this')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: ListStopsOptions) => {
      const { listStops } = await import('./list-stops.js');
      await listStops(options, context);
    });
};
