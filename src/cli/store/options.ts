import type { OptionsOf, Parent } from '../command.js';

/** Hidden: it is needed rarely, and the first page of help is full. */
export const declareStore = (parent: Parent) =>
  parent.command('store', { hidden: true }).description('Move what workers keep, or remove old results');

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

export const declareClean = (store: Parent) =>
  store
    .command('clean')
    .description('Remove results of jobs and batches that Temporal has forgotten')
    .option('--older-than <age>', "only if every object is older (default: 30d, or Temporal's retention and a day)")
    .option('--max <n>', 'how many folders at most', '1000')
    .option('--dry-run', 'show what it would remove, without changes')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print one JSON object on stdout');

export type CleanOptions = OptionsOf<typeof declareClean>;
