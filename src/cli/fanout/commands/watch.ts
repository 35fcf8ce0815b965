import type { AddCommand } from '../../command.js';
import type { SeeThroughOptions } from '../watch-to-end.js';
import { addSeeThroughOptions } from './shared-options.js';

export const addFanoutWatch: AddCommand = (parent, context) => {
  const watch = parent
    .command('watch')
    .description('Watch a batch until it ends and download its results, as `fanout` does')
    .argument('<batch>', 'id of the batch');
  addSeeThroughOptions(watch).action(async (batchId: string, options: SeeThroughOptions) => {
    const { withBatch } = await import('../with-batch.js');
    const { watchFanoutToEnd } = await import('../watch-to-end.js');
    context.exitCode = await withBatch(context, { batchId, quiet: options.quiet }, (platform, view) =>
      watchFanoutToEnd(platform, batchId, options, { context, view }),
    );
  });
};
