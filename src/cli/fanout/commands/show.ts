import type { AddCommand } from '../../command.js';

interface Options {
  readonly json?: boolean;
}

export const addFanoutShow: AddCommand = (parent, context) => {
  parent
    .command('show')
    .description('Show the progress of a batch, or its outcome')
    .argument('<batch>', 'id of the batch')
    .option('--json', 'print one JSON object on stdout')
    .action(async (batchId: string, options: Options) => {
      const { showFanout } = await import('../show-fanout.js');
      context.exitCode = await showFanout(batchId, options, context);
    });
};
