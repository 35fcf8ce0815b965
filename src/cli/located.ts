/** Finds the command that a command line names, and suggests another one if it is mistyped. */
import type { Command } from 'commander';
import { editsBetween } from '../contract/texts/edits.js';

export interface Located {
  /** The innermost command that exists. */
  readonly command: Command;
  /** Its full name, like `sandflow jobs show`. */
  readonly name: string;
  /** The first word after it; undefined if there is none, or if it is an option. */
  readonly word: string | undefined;
}

export function locate(program: Command, args: readonly string[]): Located {
  let command = program;
  let name = program.name();
  for (const [index, arg] of args.entries()) {
    const next = visibleCommands(command).find((one) => one.name() === arg);
    if (!next) return { command, name, word: args[index]?.startsWith('-') ? undefined : arg };
    command = next;
    name = `${name} ${next.name()}`;
  }
  return { command, name, word: undefined };
}

/** The full name of the subcommand that is spelled most like the word; undefined if none is close. */
export function meantCommand({ command, name, word }: Located): string | undefined {
  if (word === undefined) return undefined;
  const close = visibleCommands(command)
    .map((one) => ({ name: one.name(), edits: editsBetween(word, one.name()) }))
    .filter(({ name: known, edits }) => edits <= 2 && edits < known.length / 2)
    .toSorted((a, b) => a.edits - b.edits);
  return close[0] && `${name} ${close[0].name}`;
}

export function visibleCommands(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}
