import type { Parent } from '../command.js';

/** Hidden: it is needed once, and the first page of help is full. */
export const declareStore = (parent: Parent) =>
  parent.command('store', { hidden: true }).description('Move what workers keep: results and secrets');

const help = `
Copies what SANDFLOW_RESULTS and SANDFLOW_SECRETS name now. Repeat it as often as needed: it copies what is new or has
changed, and replaces nothing that a worker has written to the bucket. To move without a loss: copy while the workers
run, end them, copy again, set both variables to the bucket, and start them. Do not repeat it after that: a secret that was
deleted in the bucket would come back.
`;

export const declareCopy = (store: Parent) =>
  store
    .command('copy')
    .description('Copy the results and secrets of this deployment into a bucket of S3; safe to repeat')
    .requiredOption('--to <place>', 's3://bucket/prefix, as the settings take it afterwards')
    .addHelpText('after', help);
