import type { AddCommand } from '../../command.js';
import type { PolicyOptions } from '../options.js';
import type { SeeThroughOptions } from '../watch-to-end.js';
import { addPolicyOptions, addSeeThroughOptions, withEnd } from './shared-options.js';

interface Options extends Omit<PolicyOptions, 'end'>, SeeThroughOptions {
  readonly retryFailed: boolean;
  readonly detach?: boolean;
  readonly then?: PolicyOptions['end'];
}

export const addFanoutResume: AddCommand = (parent, context) => {
  const resume = parent
    .command('resume')
    .description('Run the missing and failed items of an ended batch; completed items are not repeated')
    .argument('<batch>', 'id of the batch')
    .option('--no-retry-failed', 'run only items that were not started or were cancelled')
    .option('--detach', 'start the batch, print its id and exit');
  addSeeThroughOptions(addPolicyOptions(resume)).action(async (batchId: string, given: Options) => {
    const { resumeBatch } = await import('../resume-batch.js');
    context.exitCode = await resumeBatch(batchId, withEnd(given), context);
  });
};
