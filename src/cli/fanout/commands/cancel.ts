import type { AddCommand } from '../../command.js';

interface Options {
  readonly wait?: boolean;
  readonly json?: boolean;
}

export const addFanoutCancel: AddCommand = (parent, context) => {
  parent
    .command('cancel')
    .description('Cancel a batch: interrupt every fork, stop or delete it, and confirm that')
    .argument('<batch>', 'id of the batch')
    .option('--wait', 'wait until the batch has ended')
    .option('--json', 'print one JSON object on stdout')
    .action(async (batchId: string, options: Options) => {
      const { io } = context;
      const { withBatch } = await import('../with-batch.js');
      const { cancelFanout } = await import('../../../temporal/fanouts/index.js');
      const { watchFanout } = await import('../progress/watch-fanout.js');
      const end = await withBatch(context, { batchId }, async (platform, view) => {
        const batch = { deployment: platform.config.deployment, batchId };
        await cancelFanout(platform.temporal, batch);
        return options.wait ? watchFanout(platform, batch, { view, interrupted: io.interrupted }) : undefined;
      });
      const outcome = end?.kind === 'ended' ? end.result.outcome : null;
      const { printJson } = await import('../../output/json.js');
      if (options.json) printJson(io.stdout, { batchId, outcome, error: null });
      if (end?.kind === 'detached') {
        const { exitCodes } = await import('../../exit-codes.js');
        context.exitCode = exitCodes.detached;
      }
      const text = outcome ? `Batch ${batchId} ended: ${outcome}.` : `Cancelling batch ${batchId}.`;
      io.stderr.write(`${text} See its results with: sandflow fanout watch ${batchId}\n`);
    });
};
