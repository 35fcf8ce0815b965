import type { AddCommand } from '../../command.js';

export const addFanoutResults: AddCommand = (parent, context) => {
  parent
    .command('results')
    .description('Print the results of a batch as JSONL, a line an item; also while it runs')
    .argument('<batch>', 'id of the batch')
    .action(async (batchId: string) => {
      const { printResults } = await import('../results/stored-results.js');
      await printResults(batchId, context);
    });
};
