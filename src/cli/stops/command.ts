import { type AddCommand, lazily } from '../command.js';
import { declareExplain, declareList, declareStop, declareStops, declareSweep } from './options.js';

/** `sandflow stop`: stops sandboxes and confirms that they are stopped. */
export const addStop: AddCommand = (parent, context) => {
  declareStop(parent).action(async (sandboxIds, options) => {
    context.undone = 'requested no stop';
    const read = (await import('./stop-request.js')).readStopCommand(sandboxIds, options);
    const { stopSandboxes } = await import('./stop-sandboxes.js');
    context.exitCode = await stopSandboxes(read, options, context);
  });
};

/** `sandflow stops`: lists open stops, explains one, and escalates failing ones. */
export const addStops: AddCommand = (parent, context) => {
  const stops = declareStops(parent);
  declareList(stops).action(lazily(context, async () => (await import('./list-stops.js')).listStops));
  declareSweep(stops).action(lazily(context, async () => (await import('./sweep-stops.js')).sweepStops));
  declareExplain(stops).action(lazily(context, async () => (await import('./show-explanation.js')).showExplanation));
};
