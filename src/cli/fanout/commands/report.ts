import type { AddCommand } from '../../command.js';

interface Options {
  readonly out?: string;
}

export const addFanoutReport: AddCommand = (parent, context) => {
  parent
    .command('report')
    .description('Write the HTML report of a batch, running or ended')
    .argument('<batch>', 'id of the batch')
    .option('--out <file>', 'output file (default: ./fanout-<id>/report.html)')
    .action(async (batchId: string, options: Options) => {
      const { reportBatch } = await import('../results/stored-results.js');
      await reportBatch(batchId, options, context);
    });
};
