/** The options that choose jobs and batches: for lists, and for commands that act on what they choose. */
import type { OptionValues } from '@commander-js/extra-typings';
import { type AnyCommand, collect, type Parent } from './command.js';

type Noun = 'jobs' | 'batches';

export const failedText = (noun: Noun) =>
  `only ${noun} that ended, but not as completed or cancelled, or that lack a file`;

/** @param noun what is chosen */
export const withFilters = <A extends unknown[], O extends OptionValues>(command: AnyCommand<A, O>, noun: Noun) =>
  command
    .option('--since <when>', `only ${noun} that started or ended since: a duration like 12h or 1d, or a date`)
    .option('--label <name=value>', `only ${noun} with this label (repeatable)`, collect, [])
    .option('--schedule <name>', `only ${noun} that this schedule started`)
    .option('--outcome <outcome>', `only ${noun} with this outcome (needs search attributes)`);

/** `jobs list` and `fanout list`. */
export const declareListOf = (parent: Parent, noun: Noun) =>
  withFilters(
    parent
      .command('list')
      .description(`List the ${noun} of this deployment, newest first`)
      .option('--open', `only running ${noun}`)
      .option('--failed', failedText(noun)),
    noun,
  )
    .option('--limit <count>', `maximum number of ${noun} to list`, '50')
    .option('--after <place>', 'only what follows: `next` of the page before')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', listHelp(noun === 'jobs' ? 'jobs' : 'fanout'));

const listHelp = (command: string) => `
Examples:
  sandflow ${command} list --failed --since 1d          what failed since yesterday
  sandflow ${command} list --open --label team=search   what runs for one team
`;
