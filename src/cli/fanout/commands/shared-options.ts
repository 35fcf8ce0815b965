/** Options that several `fanout` commands share. */
import { type Command, Option } from 'commander';

export const machineSizes = ['small', 'default', 'large', 'xlarge'];

/** Options of the batch's policy. The defaults are in the help and in `options.ts`: a resume changes only what it names. */
export function addPolicyOptions(command: Command): Command {
  return command
    .option('--concurrency <count>', 'maximum number of forks that run at once (default: 20)')
    .option('--retries <count>', 'how often to retry a failed item, each time in a new fork (default: 0)')
    .option('--first <count>', 'end after this many successes; interrupt and clean up the rest')
    .option('--fail-fast', 'end when an item has failed its last attempt')
    .option('--item-deadline <duration>', 'hard deadline of each item (default: 1h)')
    .option('--deadline <duration>', 'hard deadline of the batch, before clean-up (default: 1d)')
    .option('--budget <duration>', 'machine-time limit for all forks together, at multiplier 1, like 10h or 90m')
    .addOption(
      new Option('--type <size>', 'machine size of the forks (default: that of the source)').choices(machineSizes),
    )
    .addOption(
      new Option(
        '--then <end>',
        'what to do with each fork at the end (default: stop, so that no work is lost)',
      ).choices(['stop', 'delete', 'keep']),
    )
    .option('--ttl <duration>', 'time until a fork stops itself, renewed while its item runs (default: 30m)')
    .addOption(
      new Option(
        '--on-unknown <action>',
        'what to do if it is unknown whether a prompt was accepted (default: abandon)',
      ).choices(['abandon', 'resend']),
    );
}

/** Options for watching a batch and saving its results. */
export function addSeeThroughOptions(command: Command): Command {
  return command
    .option('--out <folder>', 'folder for results, report and files (default: ./fanout-<id>)')
    .option('--report <file>', 'file for the HTML report (default: report.html in that folder)')
    .option('--watch-deadline <duration>', 'stop watching after this time; the batch keeps running (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'print warnings only, no progress');
}

/** An object with `then` would be taken for a promise. */
export function withEnd<T extends { readonly then?: E }, E>({ then: end, ...rest }: T): Omit<T, 'then'> & { end?: E } {
  return { ...rest, ...(end !== undefined && { end }) };
}
