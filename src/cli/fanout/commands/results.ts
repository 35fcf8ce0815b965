import type { AddCommand } from '../../command.js';

export const addFanoutResults: AddCommand = (parent, context) => {
  parent
    .command('results')
    .description('Print the results of a batch, running or ended, as JSONL: one line per item')
    .argument('<batch>', 'id of the batch')
    .action(async (batchId: string) => {
      const { printResults } = await import('../results/stored-results.js');
      await printResults(batchId, context);
    });
};
