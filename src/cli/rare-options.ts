/**
 * Options that few users need. `--help` leaves them out, so that the rest fits on a screen; `--help-all` has them too.
 * Suggestions and the parser know them like any other option.
 */
import { type Command, CommanderError, Help, type Option } from 'commander';

/** On the page of `--help-all`. An option under this heading is rare. */
const heading = 'Rarely needed:';

/** Marks an option as rarely needed. @returns the same option */
export function rare<O extends Pick<Option, 'helpGroup'>>(option: O): O {
  option.helpGroup(heading);
  return option;
}

/** Marks the options of a command that have these long flags as rarely needed. @returns the same command */
export function withRare<C extends { readonly options: readonly Option[] }>(command: C, flags: readonly string[]): C {
  for (const option of command.options) if (flags.includes(option.long ?? '')) rare(option);
  return command;
}

const isRare = ({ helpGroupHeading }: Option) => helpGroupHeading === heading;

/** For `configureHelp`: the page without the rare options. */
export function formatShortHelp(command: Command, help: Help): string {
  return formatHelpWith(
    help.visibleOptions(command).filter((option) => !isRare(option)),
    command,
    help,
  );
}

/** The page with some of the options. Elsewhere the command keeps all of them. */
export function formatHelpWith(options: readonly Option[], command: Command, help: Help): string {
  const page: Help = Object.create(help, { visibleOptions: { value: () => options } });
  return Help.prototype.formatHelp.call(page, command, page);
}

/** Gives `--help-all` to each command below that has rare options. */
export function addHelpAll(parent: Command): void {
  for (const command of parent.commands) {
    addHelpAll(command);
    const { length } = command.options.filter(isRare);
    if (length === 0) continue;
    command
      .option('--help-all', `print help with ${length} more options, which may also stand in a job file`)
      .on('option:help-all', () => {
        command.configureHelp({ ...command.configureHelp(), formatHelp: Help.prototype.formatHelp });
        command.outputHelp();
        throw new CommanderError(0, 'commander.helpDisplayed', '(outputHelp)');
      });
  }
}
