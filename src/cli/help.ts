/**
 * The format of help pages: each has examples, empty defaults are omitted, and `help COMMAND…` works for commands at
 * any depth.
 */
import { type Command, Help, type Option } from 'commander';
import { examples } from './examples.js';
import { locate, visibleCommands } from './located.js';
import { formatHelpWith, formatShortHelp } from './rare-options.js';
import { UsageError } from './usage-error.js';

export const helpStyle = {
  formatHelp: formatShortHelp,
  /** An optional value is written after `=`. */
  optionTerm: ({ flags, optional }: Option): string => (optional ? flags.replace(/ \[(.*)\]$/, '[=$1]') : flags),
  optionDescription(this: Help, option: Option): string {
    const isEmptyList = Array.isArray(option.defaultValue) && option.defaultValue.length === 0;
    const shown: Option = isEmptyList ? Object.create(option, { defaultValue: { value: undefined } }) : option;
    return Help.prototype.optionDescription.call(this, shown);
  },
};

/** The page of the program itself: only names and what they do, so that all commands fit on a screen. */
export const topHelpStyle = {
  ...helpStyle,
  subcommandTerm: (command: Command): string => command.name(),
  formatHelp: (command: Command, help: Help): string => formatHelpWith([], command, help),
};

/** Adds the examples of each command to its page. */
export function addExamples(program: Command): void {
  const addBelow = (parent: Command, prefix: string) => {
    for (const command of visibleCommands(parent)) {
      const name = `${prefix}${command.name()}`;
      const lines = examples[name];
      if (lines) command.addHelpText('after', `\n${['Examples:', ...lines.map((line) => `  ${line}`)].join('\n')}\n`);
      addBelow(command, `${name} `);
    }
  };
  addBelow(program, '');
}

/** `sandflow help jobs show` prints what `sandflow jobs show --help` prints. */
export function addHelpCommand(program: Command): void {
  program
    .command('help')
    .description('Print help for a command')
    .argument('[command...]', 'the command, like jobs show')
    .helpGroup('This machine:')
    .action((words: string[]) => {
      const at = locate(program, words);
      if (at.word !== undefined) {
        throw new UsageError(`Unknown command '${words.join(' ')}'. See ${at.name} --help.`);
      }
      at.command.outputHelp();
    });
}
