/** `sandflow fanout resume`. */
import { fanoutProgress, resumeFanout } from '../../temporal/fanouts/index.js';
import type { CommandContext } from '../command.js';
import { sayIsolation } from '../connect/isolation.js';
import { parseDurationMs } from '../duration.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { type PolicyOptions, policyOf } from './options.js';
import { type SeeThroughOptions, watchFanoutToEnd } from './watch-to-end.js';
import { withBatch } from './with-batch.js';

export interface ResumeOptions extends PolicyOptions, SeeThroughOptions {
  readonly retryFailed: boolean;
  readonly detach?: boolean;
}

/** @returns the exit code */
export function resumeBatch(batchId: string, options: ResumeOptions, context: CommandContext): Promise<number> {
  const { io } = context;
  // Usage errors must surface before anything starts.
  const policy = policyOf(options);
  if (options.watchDeadline !== undefined) parseDurationMs(options.watchDeadline, '--watch-deadline');
  return withBatch(context, { batchId, quiet: options.quiet }, async (platform, view) => {
    const { deployment, taskQueue } = platform.config;
    const batch = { deployment, batchId };
    const { counts, sealed } = await fanoutProgress(platform.temporal, batch);
    const left = counts.items - counts.completed - (options.retryFailed ? 0 : counts.failed);
    if (sealed && left === 0) {
      const done = counts.completed === counts.items ? 'completed' : 'completed or failed';
      view.notice(`Nothing left to run in ${batchId}: every item has ${done}.`, 'detail');
    } else {
      const { retryFailed } = options;
      await resumeFanout(platform.temporal, batch, { taskQueue, retryFailed, policy });
      sayIsolation(platform.isolation, view);
      view.notice(`Batch ${batchId} resumed: running the items that are missing or failed.`, 'detail');
    }
    if (!options.detach) return watchFanoutToEnd(platform, batchId, options, { context, view });
    if (options.json)
      printJson(io.stdout, { batchId, outcome: null, isolation: platform.isolation.known, error: null });
    else io.stdout.write(`${batchId}\n`);
    return exitCodes.done;
  });
}
