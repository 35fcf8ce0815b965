/** Finds the command that a command line names. */
import type { Command } from 'commander';

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

export function visibleCommands(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}
