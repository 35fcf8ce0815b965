import type { AddCommand } from '../command.js';
import { requireIdFirst } from '../connect/require-id.js';
import { requireReportPlace } from '../output-places.js';
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
  const batches = declareFanout(parent)
    .summary('Run a batch of prompts, each in a fork of one prepared sandbox')
    .action(async (items, options) => {
      context.undone = 'started no batch';
      const read = await (await import('./read-fanout.js')).readFanout(items, options, context.io);
      const { runFanout } = await import('./run-fanout.js');
      context.exitCode = await runFanout(read, options, context);
    });
  requireIdFirst(batches);
  declareList(batches).action(async (options) => (await import('../jobs/list-jobs.js')).printBatches(options, context));
  declareShow(batches).action(async (batchId, options) => {
    const { showFanout } = await import('./show-fanout.js');
    context.exitCode = await showFanout(batchId, options, context);
  });
  declareWatch(batches).action(async (batchId, options) => {
    await (await import('./result-places.js')).requireResultPlaces(batchId, options, context.io);
    const { watchAgain } = await import('./act-on-batch.js');
    context.exitCode = await watchAgain(batchId, options, context);
  });
  declareCancel(batches).action(async (batchId, options) => {
    const { cancelAndReport } = await import('./act-on-batch.js');
    context.exitCode = await cancelAndReport(batchId, options, context);
  });
  declareResume(batches).action(async (batchId, options) => {
    context.undone = 'resumed no batch';
    const read = await (await import('./read-resume.js')).readResume(batchId, options, context.io);
    const { resumeBatch } = await import('./resume-batch.js');
    context.exitCode = await resumeBatch(batchId, read, options, context);
  });
  declareResults(batches).action(async (batchId, options) =>
    (await import('./results/print-results.js')).printResults(batchId, options, context),
  );
  declareLogs(batches).action(async (batchId, itemId, options) => {
    const { showItemLogs } = await import('./show-item-logs.js');
    context.exitCode = await showItemLogs(batchId, itemId, options, context);
  });
  declareReport(batches).action(async (batchId, options) => {
    await requireReportPlace(options, context.io);
    await (await import('./results/print-results.js')).reportBatch(batchId, options, context);
  });
};
