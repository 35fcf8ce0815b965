import type { AddCommand } from '../command.js';
import { addStopsExplain } from './explain.js';
import { addStopsList } from './list.js';

/** `sandflow stops`: lists open stops and explains one. */
export const addStops: AddCommand = (parent, context) => {
  const stops = parent.command('stops').description('List open stops, or explain one');
  for (const add of [addStopsList, addStopsExplain]) add(stops, context);
};
