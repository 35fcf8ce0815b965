/** Options that several commands of `fanout` have. */
import { type Command, Option } from 'commander';

export const machineSizes = ['small', 'default', 'large', 'xlarge'];

/** How the batch goes on. Defaults stand in the help and in `options.ts`: a resume changes only what it names. */
export function addPolicyOptions(command: Command): Command {
  return command
    .option('--concurrency <count>', 'forks at work at once (default: 20)')
    .option('--retries <count>', 'try an item that failed again, in a new fork (default: 0)')
    .option('--first <count>', 'end at so many successes; the rest is interrupted and cleaned up')
    .option('--fail-fast', 'end at the first item that fails for good')
    .option('--item-deadline <duration>', 'hard deadline of each item (default: 1h)')
    .option('--deadline <duration>', 'hard deadline of the batch; clean-up comes after it (default: 1d)')
    .option('--budget <duration>', 'machine-time that all forks together may take, at multiplier 1, like 10h or 90m')
    .addOption(
      new Option('--type <size>', 'machine size of the forks (default: that of the source)').choices(machineSizes),
    )
    .addOption(
      new Option('--then <end>', 'what becomes of each fork (default: stop, so that no work is lost)').choices([
        'stop',
        'delete',
        'keep',
      ]),
    )
    .option('--ttl <duration>', 'auto-stop of each fork, renewed while its item works (default: 30m)')
    .addOption(
      new Option('--on-unknown <action>', 'when nobody can know whether a prompt was taken (default: abandon)').choices(
        ['abandon', 'resend'],
      ),
    );
}

/** How a batch is watched and where its results go. */
export function addSeeThroughOptions(command: Command): Command {
  return command
    .option('--out <folder>', 'where results, report and files go (default: ./fanout-<id>)')
    .option('--report <file>', 'where the HTML report goes (default: report.html in that folder)')
    .option('--watch-deadline <duration>', 'stop watching after this long; the batch goes on (exit code 4)')
    .option('--json', 'print one JSON object on stdout')
    .option('--quiet', 'no progress, only warnings');
}

/** An object with `then` would be taken for a promise. */
export function withEnd<T extends { readonly then?: E }, E>({ then: end, ...rest }: T): Omit<T, 'then'> & { end?: E } {
  return { ...rest, ...(end !== undefined && { end }) };
}
