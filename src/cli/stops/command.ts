import type { AddCommand } from '../command.js';
import { addStopsExplain } from './explain.js';
import { addStopsList } from './list.js';

/** `sandflow stops`: those that have not ended, and what becomes of them. */
export const addStops: AddCommand = (parent, context) => {
  const stops = parent.command('stops').description('List stops that have not ended, and explain one');
  for (const add of [addStopsList, addStopsExplain]) add(stops, context);
};
