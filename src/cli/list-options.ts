/** The options that lists of jobs and of batches share. */
import { collect, type Parent } from './command.js';

/** `jobs list` and `fanout list`. @param noun what is listed, in the plural */
export const declareListOf = (parent: Parent, noun: 'jobs' | 'batches') =>
  parent
    .command('list')
    .description(`List the ${noun} of this deployment, newest first`)
    .option('--open', `only running ${noun}`)
    .option('--failed', `only ${noun} that ended, but not as completed or cancelled, or that lack a file`)
    .option('--since <when>', `only ${noun} that started or ended since: a duration like 12h or 1d, or a date`)
    .option('--label <name=value>', `only ${noun} with this label (repeatable)`, collect, [])
    .option('--schedule <name>', `only ${noun} that this schedule started`)
    .option('--limit <count>', `maximum number of ${noun} to list`, '50')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', listHelp(noun === 'jobs' ? 'jobs' : 'fanout'));

const listHelp = (command: string) => `
Examples:
  sandflow ${command} list --failed --since 1d          what failed since yesterday
  sandflow ${command} list --open --label team=search   what runs for one team
`;
