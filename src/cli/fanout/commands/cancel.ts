import type { AddCommand } from '../../command.js';

interface Options {
  readonly wait?: boolean;
  readonly json?: boolean;
}

export const addFanoutCancel: AddCommand = (parent, context) => {
  parent
    .command('cancel')
    .description('End a batch: it interrupts every fork, stops or deletes it as it was told, and confirms it')
    .argument('<batch>', 'id of the batch')
    .option('--wait', 'wait until it has ended')
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
      const text = outcome ? `has ended: ${outcome}` : 'was asked to end';
      io.stderr.write(`The batch ${batchId} ${text}. Its results: sandflow fanout watch ${batchId}\n`);
    });
};
