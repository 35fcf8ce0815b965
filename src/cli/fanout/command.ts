import { type AddCommand, withEnd } from '../command.js';
import {
  declareCancel,
  declareFanout,
  declareList,
  declareLogs,
  declareReport,
  declareResults,
  declareResume,
  declareShow,
  declareWatch,
} from './options.js';

/** `sandflow fanout`: a batch of prompts, each in its own fork of one prepared sandbox. */
export const addFanout: AddCommand = (parent, context) => {
  const batches = declareFanout(parent).action(async (items, options) => {
    const { runFanout } = await import('./run-fanout.js');
    context.exitCode = await runFanout(items, withEnd(options), context);
  });
  declareList(batches).action(async (options) => (await import('../jobs/list.js')).printBatches(options, context));
  declareShow(batches).action(async (batchId, options) => {
    const { showFanout } = await import('./act-on-batch.js');
    context.exitCode = await showFanout(batchId, options, context);
  });
  declareWatch(batches).action(async (batchId, options) => {
    const { watchAgain } = await import('./act-on-batch.js');
    context.exitCode = await watchAgain(batchId, options, context);
  });
  declareCancel(batches).action(async (batchId, options) => {
    const { cancelAndReport } = await import('./act-on-batch.js');
    context.exitCode = await cancelAndReport(batchId, options, context);
  });
  declareResume(batches).action(async (batchId, options) => {
    const { resumeBatch } = await import('./act-on-batch.js');
    context.exitCode = await resumeBatch(batchId, withEnd(options), context);
  });
  declareResults(batches).action(async (batchId) =>
    (await import('./results/stored-results.js')).printResults(batchId, context),
  );
  declareLogs(batches).action(async (batchId, itemId, options) => {
    const { showItemLogs } = await import('./show-item-logs.js');
    context.exitCode = await showItemLogs(batchId, itemId, options, context);
  });
  declareReport(batches).action(async (batchId, options) =>
    (await import('./results/stored-results.js')).reportBatch(batchId, options, context),
  );
};
